// PostgreSQL against the contract, over two pools of connections.

import { serverUrl } from '../../support/server-url.ts'
import { postgres } from '../sql/dialect.ts'
import { declareSuites } from '../sql/subjects.ts'

declareSuites(postgres, { url: () => serverUrl('postgres'), tablePrefix: 'conformance_' })
