// Faults between a store and MariaDB.

import { mariadb } from '../sql/dialect.ts'
import { declareFaultCases } from '../sql/fault-cases.ts'

declareFaultCases(mariadb)
