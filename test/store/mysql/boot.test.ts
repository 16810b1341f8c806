// How a store on MariaDB begins and ends.

import { declareBootCases } from '../sql/boot-cases.ts'
import { mariadb } from '../sql/dialect.ts'

declareBootCases(mariadb)
