// A TCP proxy between a client and a server, for what networks do: lose a reply, cut a connection,
// pass things on late, or swallow everything and say nothing.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Which way a chunk of bytes goes. */
export type Direction = 'request' | 'reply'

/**
 * What becomes of it: passed on, after that many ms where it is a number; dropped with the
 * connection; or kept back until `release`.
 */
export type Verdict = 'pass' | 'cut' | 'hold' | number

/** A proxy; clients connect to its port of 127.0.0.1. */
export interface TcpProxy {
  readonly port: number
  /** Decides for every chunk. By default all pass. */
  rule: (direction: Direction, bytes: Buffer) => Verdict
  /** Ends all connections. */
  cut(): void
  /** Passes on what was held, where the connections still stand. */
  release(): void
  close(): Promise<void>
}

/** Starts a proxy to a port of 127.0.0.1. */
export async function startProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let held: (() => void)[] = []
  const open = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const listener = createServer((client) => {
    const server = connect(targetPort, '127.0.0.1')
    const join = (direction: Direction, from: Socket, to: Socket) => {
      open(from)
      let isHolding = false
      from.on('data', (bytes: Buffer) => {
        const verdict = isHolding ? 'hold' : proxy.rule(direction, bytes)
        if (verdict === 'pass') to.write(bytes)
        else if (verdict === 'hold') {
          isHolding = true // What comes later must not overtake it.
          held.push(() => {
            isHolding = false
            to.write(bytes)
          })
        } else if (verdict === 'cut') {
          from.destroy()
          to.destroy()
        } else {
          from.pause() // What comes later must not overtake it.
          setTimeout(() => {
            to.write(bytes)
            from.resume()
          }, verdict)
        }
      })
      // A connection that is being held looks alive to the other side.
      from.on('close', () => isHolding || to.destroy())
    }
    join('request', client, server)
    join('reply', server, client)
  })
  const proxy: TcpProxy = {
    port: 0,
    rule: () => 'pass',
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    release() {
      const passing = held
      held = []
      for (const pass of passing) pass()
    },
    async close() {
      proxy.cut()
      listener.close()
      await once(listener, 'close')
    },
  }
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return Object.assign(proxy, { port: (listener.address() as AddressInfo).port })
}
