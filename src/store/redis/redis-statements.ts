// The scripts: one per operation, each atomic. What a script wrote before it fails stays written,
// so it checks first and writes when nothing can go wrong any more. Numbers come and go as decimal
// text: Lua would round them on the way. All keys are in KEYS, with `meta` first.
//
// A record is a hash of all FIELDS; an empty text is "none". A tombstone has a token and the field
// `deletedAt`. `mark` tells a driver's repeated request from a new one: it is the call's own name
// after `-` (a claim of a free slot), `+` (a take-over) or `=` (a commit).

/** The version of the data that the scripts read and write. */
export const VERSION = '1'

/** What a script answers, as a whole, when the keys of the store are not as they should be. */
export const UNFIT = 'unfit'

/** The fields of a record, in the order in which scripts answer them. */
export const FIELDS = [
  ...['kind', 'spec', 'nextRunAt', 'leaseOwner', 'leaseUntil', 'fencingToken'],
  ...['lastRunAt', 'updatedAt', 'mark', 'deletedAt'],
] as const

/** A script and what it does, for errors. */
export interface Script {
  readonly text: string
  readonly isWrite: boolean
}

const names = FIELDS.map((field) => `'${field}'`).join(', ')

// `read` answers a row and its state: none, live, dead, bad (a field), type (no hash).
/** What scripts begin with: numbers, and a look at `meta`. */
export const COMMON = `
  local call, find, tonumber = redis.call, string.find, tonumber
  local MAX = ${Number.MAX_SAFE_INTEGER}
  local function int(text)
    if not text or #text > 17 or not find(text, '^%-?%d+$') then return nil end
    local number = tonumber(text)
    if number < -MAX or number > MAX then return nil end
    return number
  end
  local function token(text)
    local number = int(text)
    return number and number >= 0 and number or nil
  end
  local function decimal(number) return string.format('%.0f', number) end
  local function optional(text) return text == '' or int(text) ~= nil end
  local function isSet(key)
    local kind = call('TYPE', key).ok
    return kind == 'set' or kind == 'none'
  end
  local meta = redis.pcall('HMGET', KEYS[1], 'version', 'floor')
  local floor = not meta.err and token(meta[2])
  if not floor or meta[1] ~= ARGV[1] then return '${UNFIT}' end
`

const RECORDS = `${COMMON}
  local KINDS = { cron = true, every = true, delay = true }
  local KIND, SPEC, NEXT, OWNER, UNTIL, TOKEN, LAST, UPDATED, MARK, DELETED =
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  local function isSound(row)
    return KINDS[row[KIND]] and row[SPEC] and row[SPEC] ~= '' and optional(row[NEXT])
      and row[OWNER] and row[UNTIL] and (row[OWNER] == '') == (row[UNTIL] == '')
      and optional(row[UNTIL]) and token(row[TOKEN]) and optional(row[LAST])
      and int(row[UPDATED]) and row[MARK]
  end
  local function read(key)
    local row = redis.pcall('HMGET', key, ${names})
    if row.err then return { call('TYPE', key).ok }, 'type' end
    if not row[TOKEN] and call('EXISTS', key) == 0 then return row, 'none' end
    if row[DELETED] then
      return row, token(row[TOKEN]) and int(row[DELETED]) and 'dead' or 'bad'
    end
    return row, isSound(row) and 'live' or 'bad'
  end
  local function answer(state, row) return { state, unpack(row, 1, DELETED) } end
  local function isBroken(state) return state == 'bad' or state == 'type' end
  local function isOpen(row, state, claimToken)
    return state == 'live' and row[UNTIL] ~= '' and token(row[TOKEN]) == tonumber(claimToken)
  end
`

const records = (isWrite: boolean, text: string): Script => ({ isWrite, text: RECORDS + text })
const others = (isWrite: boolean, text: string): Script => ({ isWrite, text: COMMON + text })

/** KEYS meta, records. Answers each as it is. */
export const GET = records(
  false,
  `local answers = {}
  for at = 2, #KEYS do
    local row, state = read(KEYS[at])
    answers[at - 1] = state == 'none' and { 'none' } or answer(state, row)
  end
  return answers`,
)

/** KEYS meta, ids, graves, records. ARGV version, now; for each: id, kind, spec, slot or ''. */
export const REGISTER = records(
  true,
  `if not isSet(KEYS[2]) or not isSet(KEYS[3]) then return '${UNFIT}' end
  local answers = {}
  for at = 4, #KEYS do
    local key = KEYS[at]
    local id, kind, spec, slot = unpack(ARGV, 4 * at - 13, 4 * at - 10)
    local row, state = read(key)
    if state == 'none' or state == 'dead' then
      local first = math.max(floor, token(row[TOKEN]) or 0)
      -- A server that is full refuses a script at its first write only if that one takes memory.
      call('HSET', key, 'kind', kind, 'spec', spec, 'nextRunAt', slot, 'leaseOwner', '',
        'leaseUntil', '', 'fencingToken', decimal(first), 'lastRunAt', '', 'updatedAt', ARGV[2],
        'mark', '')
      call('HDEL', key, 'deletedAt')
      call('SREM', KEYS[3], id)
      row = { kind, spec, slot, '', '', decimal(first), '', ARGV[2], '' }
      state = 'live'
    elseif state == 'live' and (row[KIND] ~= kind or row[SPEC] ~= spec) then
      row[KIND], row[SPEC], row[NEXT], row[UPDATED] = kind, spec, slot, ARGV[2]
      call('HSET', key, 'kind', kind, 'spec', spec, 'nextRunAt', slot, 'updatedAt', ARGV[2])
    end
    if state == 'live' then call('SADD', KEYS[2], id) end
    answers[at - 3] = answer(state, row)
  end
  return answers`,
)

/** KEYS meta, records. ARGV version, owner, now, deadline, the call's name. */
export const CLAIM = records(
  true,
  `local owner, now, deadline, name = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
  local answers = {}
  for at = 2, #KEYS do
    local row, state = read(KEYS[at])
    local reply = { 'none' }
    if isBroken(state) then
      reply = answer(state, row)
    elseif state == 'live' and row[UNTIL] ~= '' and string.sub(row[MARK], 2) == name then
      reply = answer('won', row)
    elseif state == 'live' and row[NEXT] ~= '' and tonumber(row[NEXT]) <= now
      and (row[UNTIL] == '' or tonumber(row[UNTIL]) <= now) then
      if tonumber(row[TOKEN]) >= MAX then
        reply = answer('full', row)
      else
        row[MARK] = (row[UNTIL] == '' and '-' or '+') .. name
        row[OWNER], row[UNTIL], row[UPDATED] = owner, deadline, ARGV[3]
        row[TOKEN] = decimal(tonumber(row[TOKEN]) + 1)
        call('HSET', KEYS[at], 'leaseOwner', owner, 'leaseUntil', deadline,
          'fencingToken', row[TOKEN], 'updatedAt', ARGV[3], 'mark', row[MARK])
        reply = answer('won', row)
      end
    end
    answers[at - 1] = reply
  end
  return answers`,
)

/** KEYS meta, records. ARGV version; for each: token, deadline. */
export const RENEW = records(
  true,
  `local answers = {}
  for at = 2, #KEYS do
    local claimToken, deadline = ARGV[2 * at - 2], ARGV[2 * at - 1]
    local row, state = read(KEYS[at])
    local reply = { 'no' }
    if isBroken(state) then
      reply = answer(state, row)
    elseif isOpen(row, state, claimToken) then
      local isBack = row[NEXT] == '' or tonumber(deadline) <= tonumber(row[NEXT])
      if isBack or tonumber(deadline) > tonumber(row[UNTIL]) then
        call('HSET', KEYS[at], 'leaseUntil', deadline)
      end
      reply = { 'yes' }
    end
    answers[at - 1] = reply
  end
  return answers`,
)

/**
 * KEYS meta, records. ARGV version, now, the call's name; for each: token, slot or '', last slot or
 * '' to keep it, kind and spec of the plan or ''.
 */
export const COMPLETE = records(
  true,
  `local now, mark = ARGV[2], '=' .. ARGV[3]
  local answers = {}
  for at = 2, #KEYS do
    local claimToken, slot, last, kind, spec = unpack(ARGV, 5 * at - 6, 5 * at - 2)
    local row, state = read(KEYS[at])
    local reply = { 'no' }
    if isBroken(state) then
      reply = answer(state, row)
    elseif state == 'live' and row[MARK] == mark then
      reply = { 'yes' }
    elseif isOpen(row, state, claimToken) then
      if kind ~= '' and (kind ~= row[KIND] or spec ~= row[SPEC]) then slot = row[NEXT] end
      if last == '' then last = row[LAST] end
      call('HSET', KEYS[at], 'nextRunAt', slot, 'leaseOwner', '', 'leaseUntil', '',
        'lastRunAt', last, 'updatedAt', now, 'mark', mark)
      reply = { 'yes' }
    end
    answers[at - 1] = reply
  end
  return answers`,
)

/** KEYS meta, ids, graves, record. ARGV version, id, token or '', now. */
export const DELETE = records(
  true,
  `if not isSet(KEYS[2]) or not isSet(KEYS[3]) then return '${UNFIT}' end
  local key, id, claimToken = KEYS[4], ARGV[2], ARGV[3]
  local row, state = read(key)
  if isBroken(state) then return answer(state, row) end
  if state ~= 'live' then return { 'no' } end
  if claimToken ~= '' and tonumber(row[TOKEN]) ~= tonumber(claimToken) then return { 'no' } end
  call('DEL', key)
  call('SREM', KEYS[2], id)
  if tonumber(row[TOKEN]) > floor then
    call('HSET', key, 'fencingToken', row[TOKEN], 'deletedAt', ARGV[4])
    call('SADD', KEYS[3], id)
  end
  return { 'yes' }`,
)

/** KEYS meta, graves, records. ARGV version, an instant, ids. Answers how many were removed. */
export const PURGE = records(
  true,
  `if not isSet(KEYS[2]) then return '${UNFIT}' end
  local old, unmarked = {}, {}
  for at = 3, #KEYS do
    local row, state = read(KEYS[at])
    if state == 'dead' and tonumber(row[DELETED]) < tonumber(ARGV[2]) then
      floor = math.max(floor, tonumber(row[TOKEN]))
      table.insert(old, KEYS[at])
    end
    if state == 'none' or state == 'live' or old[#old] == KEYS[at] then
      table.insert(unmarked, ARGV[at])
    end
  end
  call('HSET', KEYS[1], 'floor', decimal(floor))
  for _, key in ipairs(old) do call('DEL', key) end
  for _, id in ipairs(unmarked) do call('SREM', KEYS[2], id) end
  return tostring(#old)`,
)

/** KEYS meta, a set of ids. ARGV version, cursor, about how many. Answers the cursor and ids. */
export const SCAN = others(
  false,
  `if not isSet(KEYS[2]) then return '${UNFIT}' end
  return call('SSCAN', KEYS[2], ARGV[2], 'COUNT', ARGV[3])`,
)

/** KEYS meta. Answers seconds and microseconds. */
export const TIME: Script = { isWrite: false, text: "return redis.call('TIME')" }

/** KEYS meta. Answers what the server that has it says of itself. */
export const INFO: Script = {
  isWrite: false,
  text: `return redis.call('INFO', 'memory') .. redis.call('INFO', 'persistence')
    .. redis.call('INFO', 'replication')`,
}

/** KEYS meta, ids, graves. ARGV version, the least token of new ids. Answers what there was. */
export const SET_UP: Script = {
  isWrite: false, // Nothing that could be a riddle: the next attempt finds it done.
  text: `
  for at = 2, 3 do
    local kind = redis.call('TYPE', KEYS[at]).ok
    if kind ~= 'set' and kind ~= 'none' then return { 'foreign', KEYS[at], 'a ' .. kind } end
  end
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind == 'none' then
    redis.call('HSET', KEYS[1], 'version', ARGV[1], 'floor', ARGV[2])
    return { 'created' }
  end
  if kind ~= 'hash' then return { 'foreign', KEYS[1], 'a ' .. kind } end
  local version, floor = unpack(redis.call('HMGET', KEYS[1], 'version', 'floor'), 1, 2)
  if not version then return { 'foreign', KEYS[1], 'a hash without a version' } end
  return { 'found', version, floor or '' }`,
}
