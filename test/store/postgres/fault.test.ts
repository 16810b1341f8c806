// Faults between a store and PostgreSQL.

import { postgres } from '../sql/dialect.ts'
import { declareFaultCases } from '../sql/fault-cases.ts'

declareFaultCases(postgres)
