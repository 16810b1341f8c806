// PostgreSQL restarted under work.

import { postgres } from '../sql/dialect.ts'
import { declareRestartCases } from '../sql/restart-cases.ts'

declareRestartCases(postgres)
