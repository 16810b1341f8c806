// NATS against the contract, on a bucket with three copies, over two servers of the cluster.

import { startNatsCluster } from '../../support/nats-cluster.ts'
import { declareSuites } from './subjects.ts'

declareSuites({ start: startNatsCluster, replicas: 3 })
