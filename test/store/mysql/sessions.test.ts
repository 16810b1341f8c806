// Sessions that other code shaped: another character set, SQL modes that change what a backslash or
// a too long value is, numbers as text. Ids and numbers come through them unharmed.

import type mysql from 'mysql2/promise'
import { serverUrl } from '../../support/server-url.ts'
import { type Dialect, mariadb } from '../sql/dialect.ts'
import { declareSuites } from '../sql/subjects.ts'

/** MariaDB whose sessions start in these SQL modes. */
const inModes = (modes: string): Dialect => ({
  ...mariadb,
  open(url, options) {
    const flags = { charset: 'latin1_swedish_ci', bigNumberStrings: true, ...options }
    const database = mariadb.open(url, flags)
    const pool = database.pool as unknown as mysql.Pool
    pool.pool.on('connection', (connection) => {
      connection.query(`SET SESSION sql_mode = '${modes}'`)
    })
    return database
  },
})

declareSuites(inModes('NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT'), {
  url: () => serverUrl('mariadb'),
  tablePrefix: 'sessions_',
  only: ({ group }) => ['ids', 'instants', 'batch', 'lease acquire'].includes(group),
})
