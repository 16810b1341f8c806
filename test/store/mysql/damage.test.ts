// Damaged rows in MariaDB.

import { declareDamageCases } from '../sql/damage-cases.ts'
import { mariadb } from '../sql/dialect.ts'

declareDamageCases(mariadb)
