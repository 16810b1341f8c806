// The contract again through PgBouncer in transaction mode, where each statement may meet another
// session: nothing of ours may live in one.

import { serverUrl } from '../../support/server-url.ts'
import { postgres } from '../sql/dialect.ts'
import { declareSuites } from '../sql/subjects.ts'

declareSuites(postgres, { url: () => serverUrl('pgbouncer'), tablePrefix: 'bouncer_' })
