// Damaged rows in PostgreSQL.

import { declareDamageCases } from '../sql/damage-cases.ts'
import { postgres } from '../sql/dialect.ts'

declareDamageCases(postgres)
