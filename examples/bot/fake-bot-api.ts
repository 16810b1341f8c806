// The few HTTP methods of Telegram's Bot API that the example needs, on loopback, so that it runs
// without a token and without the network. What the bot sends is printed.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A running stand-in for https://api.telegram.org. */
export interface FakeBotApi {
  readonly apiRoot: string
  close(): void
}

const CHAT = { id: 42, type: 'private', first_name: 'Ada' }
/** How long an empty poll is held, ms; the real service holds it for up to 50 s. */
const POLL_MS = 500

/** Starts it; one person says `/start`, as the first update. */
export async function startFakeBotApi(): Promise<FakeBotApi> {
  const updates: object[] = [startCommand()]
  const server: Server = createServer(async (request, response) => {
    const method = request.url?.split('/').at(-1) ?? ''
    let body = ''
    for await (const chunk of request) body += chunk
    const send = (result: unknown) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ok: true, result }))
    }
    switch (method) {
      case 'getMe':
        return send({ id: 1, is_bot: true, first_name: 'Example', username: 'example_bot' })
      case 'getUpdates':
        if (updates.length > 0) return send(updates.splice(0))
        return void setTimeout(() => send([]), POLL_MS)
      case 'sendMessage': {
        const { text } = JSON.parse(body) as { text: string }
        console.log(`chat ${CHAT.id} receives: ${text}`)
        return send({ message_id: 2, date: 0, chat: CHAT, text })
      }
      default:
        return send(true)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    apiRoot: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function startCommand(): object {
  return {
    update_id: 1,
    message: {
      message_id: 1,
      date: 0,
      chat: CHAT,
      from: { ...CHAT, is_bot: false },
      text: '/start',
      entities: [{ type: 'bot_command', offset: 0, length: 6 }],
    },
  }
}
