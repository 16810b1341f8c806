// Tokens in MariaDB.

import { mariadb } from '../sql/dialect.ts'
import { declareTokenCases } from '../sql/token-cases.ts'

declareTokenCases(mariadb)
