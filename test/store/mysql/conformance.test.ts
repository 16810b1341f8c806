// MariaDB against the contract, over two pools of connections.

import { afterAll, beforeAll, describe, it } from 'vitest'
import { declareCases, leaseProviderCases, scheduleStoreCases } from '../../../src/testing/index.ts'
import { serverUrl } from '../../support/server-url.ts'
import { MysqlSubjects } from './subject.ts'

const subjects = new MysqlSubjects('conformance_')

beforeAll(async () => subjects.connect(await serverUrl('mariadb')), 300_000)
afterAll(() => subjects.end())

declareCases(scheduleStoreCases(subjects.suite), { describe, it })
declareCases(leaseProviderCases(subjects.leases), { describe, it })
