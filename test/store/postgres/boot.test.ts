// How a store on PostgreSQL begins and ends.

import { declareBootCases } from '../sql/boot-cases.ts'
import { postgres } from '../sql/dialect.ts'

declareBootCases(postgres)
