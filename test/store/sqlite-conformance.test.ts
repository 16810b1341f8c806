// SQLite against the contract. The Node that runs the tests may lack node:sqlite; newer ones run
// this same suite in `sqlite-nodes.test.ts`.

import { describe, it } from 'vitest'
import { declareCases, leaseProviderCases, scheduleStoreCases } from '../../src/testing/index.ts'
import { sqliteLeases, sqliteSuite } from './subjects.ts'

declareCases(scheduleStoreCases(sqliteSuite('better-sqlite3')), { describe, it })
declareCases(leaseProviderCases(sqliteLeases('better-sqlite3')), { describe, it })
