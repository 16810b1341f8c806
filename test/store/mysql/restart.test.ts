// MariaDB restarted under work.

import { mariadb } from '../sql/dialect.ts'
import { declareRestartCases } from '../sql/restart-cases.ts'

declareRestartCases(mariadb)
