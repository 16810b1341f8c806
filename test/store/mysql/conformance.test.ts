// MariaDB against the contract, over two pools of connections.

import { serverUrl } from '../../support/server-url.ts'
import { mariadb } from '../sql/dialect.ts'
import { declareSuites } from '../sql/subjects.ts'

declareSuites(mariadb, { url: () => serverUrl('mariadb'), tablePrefix: 'conformance_' })
