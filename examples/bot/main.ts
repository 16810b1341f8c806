// A grammY bot with durable tasks: `bot.every`, `bot.schedule`, `bot.delay`, one start, one stop.
//
//   npx tsx examples/bot/main.ts            against a local fake of the Bot API
//   BOT_TOKEN=… npx tsx examples/bot/main.ts   against Telegram

import { mkdirSync } from 'node:fs'
import { attachScheduler, Scheduler } from 'cronfence'
import { SQLiteStore } from 'cronfence/sqlite'
import { Bot } from 'grammy'
import { startFakeBotApi } from './fake-bot-api.ts'

const { BOT_TOKEN: token, BOT_DATA: folder = 'data' } = process.env
const fake = token === undefined ? await startFakeBotApi() : undefined
mkdirSync(folder, { recursive: true })

const store = new SQLiteStore({ file: `${folder}/bot.db` })
const scheduler = new Scheduler({ store: store.schedules(), timeZone: 'Europe/Madrid' })
const bot = attachScheduler(
  new Bot(token ?? '1:example', fake && { client: { apiRoot: fake.apiRoot } }),
  scheduler,
)

const chats = new Set<number>()
const tellAll = (text: string) =>
  Promise.all([...chats].map((chat) => bot.api.sendMessage(chat, text)))

bot.command('start', async (context) => {
  chats.add(context.chat.id)
  await context.reply('You will hear from me.')
})

bot.every('2s', { id: 'pulse' }, ({ fencingToken }) => tellAll(`pulse ${fencingToken}`))
bot.schedule('0 9 * * 1-5', { id: 'good-morning', missed: 'run-once' }, () =>
  tellAll('Good morning!'),
)
bot.delay('3s', { id: 'launched', missed: 'run-once' }, () => tellAll('Launched, and only once.'))

process.once('SIGINT', async () => {
  await bot.stop()
  await store.stop()
  fake?.close()
  console.log('bot stopped')
})

await bot.start({ onStart: () => console.log('bot started') })
