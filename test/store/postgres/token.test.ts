// Tokens in PostgreSQL.

import { postgres } from '../sql/dialect.ts'
import { declareTokenCases } from '../sql/token-cases.ts'

declareTokenCases(postgres)
