// The contract again in sessions that are repeatable read by default: what the server then refuses
// with 40001 is tried again, and never shows.

import { serverUrl } from '../../support/server-url.ts'
import { postgres } from '../sql/dialect.ts'
import { declareSuites } from '../sql/subjects.ts'

declareSuites(postgres, {
  url: () => serverUrl('postgres'),
  tablePrefix: 'repeatable_read_',
  poolOptions: { options: '-c default_transaction_isolation=repeatable\\ read' },
})
