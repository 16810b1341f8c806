// The scripts on named leases. A lease is a hash; one that was released has an empty owner, and
// stays for its token.

import { COMMON, type Script } from './redis-statements.ts'

const LEASES = `${COMMON}
  local OWNER, UNTIL, TOKEN = 1, 2, 3
  local row = redis.pcall('HMGET', KEYS[2], 'owner', 'until', 'fencingToken')
  if row.err then return { 'type', call('TYPE', KEYS[2]).ok } end
  local isNew = call('EXISTS', KEYS[2]) == 0
  if isNew then row = { '', '0', '0' } end
  if not row[OWNER] or not int(row[UNTIL]) or not token(row[TOKEN]) then
    return { 'bad', unpack(row, 1, TOKEN) }
  end
  local function isHeld(claimToken)
    return row[OWNER] ~= '' and tonumber(row[TOKEN]) == tonumber(claimToken)
  end
`
const leases = (text: string): Script => ({ isWrite: true, text: LEASES + text })

/** KEYS meta, lease. ARGV version, owner, now, deadline. Answers the token, when it was won. */
export const ACQUIRE = leases(
  `if row[OWNER] ~= '' and row[OWNER] ~= ARGV[2] and tonumber(row[UNTIL]) > tonumber(ARGV[3]) then
    return { 'no' }
  end
  if tonumber(row[TOKEN]) >= MAX then return { 'full' } end
  local next = decimal(tonumber(row[TOKEN]) + 1)
  call('HSET', KEYS[2], 'owner', ARGV[2], 'until', ARGV[4], 'fencingToken', next)
  return { 'yes', next }`,
)

/** KEYS meta, lease. ARGV version, token, now, deadline. */
export const EXTEND = leases(
  `if not isHeld(ARGV[2]) or tonumber(row[UNTIL]) <= tonumber(ARGV[3]) then return { 'no' } end
  call('HSET', KEYS[2], 'until', ARGV[4])
  return { 'yes' }`,
)

/** KEYS meta, lease. ARGV version, token. */
export const RELEASE = leases(
  `if not isHeld(ARGV[2]) then return { 'no' } end
  call('HSET', KEYS[2], 'owner', '')
  return { 'yes' }`,
)
