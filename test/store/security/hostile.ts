// Texts that mean something to a store, a shell, a log or a reader of one, each of them as a legal
// id. A store that takes them for what they are gives them back byte for byte.

const SQL = [
  ...[
    "'",
    "''",
    '"',
    '`',
    '\\',
    "\\'",
    ';',
    '--',
    '-- ',
    '/*',
    '*/',
    '#',
    '%',
    '_',
    '$1',
    '?',
    ':id',
  ],
  ...["' OR '1'='1", "' OR 1=1 -- ", "'; DROP TABLE schedules; --", '"; DROP TABLE schedules; --'],
  ...["' UNION SELECT * FROM schedule_leases --", "x'; UPDATE schedules SET fencing_token=0; --"],
  ...["') ON CONFLICT DO NOTHING --", "X'00'", "E'\\x00'", '\\x41', '$$', '$tag$x$tag$', 'NULL'],
  ...[
    "a' || (SELECT 1) || '",
    '1; SELECT pg_sleep(10)',
    "' AND SLEEP(10) #",
    "admin'--",
    '%27',
    '??',
  ],
  ...["¿' or 1=1", '\u02bc OR 1=1', '\u2019; --', '\uff07 OR \uff071\uff07=\uff071', "\ufe68'"],
]
const LUA = [
  ...[
    "') redis.call('FLUSHALL') --",
    ']] redis.call("DEL", KEYS[1]) --[[',
    '\\n',
    '\\0',
    '%s',
    '%d',
  ],
  ...[
    'KEYS[1]',
    'ARGV[1]',
    'nil',
    'cjson.null',
    '" .. redis.call("PING") .. "',
    '\\',
    '%%',
    '^$()%.',
  ],
]
const REDIS = [
  ...[
    '{',
    '}',
    '{}',
    '{a}',
    '}{',
    '{other}',
    '}:sched:x',
    '*',
    '?',
    '[a-z]',
    '[^a]',
    'h*llo',
    '\\*',
  ],
  ...['cronfence', '{cronfence}:sched:a', 'meta', ':meta', 'ids', 'graves', 'sched:', ':', '::'],
  ...['\r\nFLUSHALL\r\n', '*1\r\n$8\r\nFLUSHALL\r\n', '$-1', '+OK', '-ERR', ':1'],
]
const MONGO = [
  ...['$', '$$', '$ne', '$gt', '$where', '$set', '$$ROOT', '$id', '$_id', '_id', 'a.b', '.', '..'],
  ...['.a', 'a.', '{"$gt":""}', '{"$ne":null}', '[object Object]', '$expr', '$literal', 'a.$b.c'],
  ...['$function', '{ $where: "sleep(1000)" }', '64b7f0c2a1b2c3d4e5f60718', 'null', 'true', '0'],
]
const NATS = [
  ...[
    '>',
    '*',
    'a.>',
    'a.*.b',
    '.',
    '..',
    'a..b',
    '.a',
    'a.',
    ' ',
    'a b',
    '\t',
    '$JS.API.>',
    '$KV.>',
  ],
  ...['$SYS.>', 'KV_x', '_INBOX.>', 'schedule.x', 'floor', 'a/b', 'a=b', '=', '-', '/', '\\', 'YQ'],
  ...['PUB x 0\r\n\r\n', 'a\r\nPUB b 1\r\nx\r\n', 'run.x', 'last.x', 'manual', 'run.x.manual.y'],
]
const CONTROLS = [
  ...Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1)),
  ...Array.from({ length: 33 }, (_, i) => String.fromCharCode(0x7f + i)),
  ...['a\r\nb', 'a\nERROR forged line', '\u001b[2J', '\u001b]0;title\u0007', '\u009b31m', '\b\b\b'],
  ...[
    '\u2028',
    '\u2029',
    '\u0085',
    '\ufeff',
    '\ufffe',
    '\uffff',
    '\ufffd',
    '\u{10ffff}',
    '\u{1fffe}',
  ],
]
const BIDI = [
  ...['\u202e', '\u202d', '\u202a', '\u202b', '\u202c', '\u2066', '\u2067', '\u2068', '\u2069'],
  ...['\u200e', '\u200f', '\u061c', 'a\u202eb', 'user\u202etxt.exe', '\u200b', '\u200c', '\u200d'],
  ...[
    '\u2060',
    '\u00ad',
    '\u180e',
    '\u034f',
    '\u{e0001}',
    '\u{e0061}',
    'a\u0000'.replace('\0', ''),
  ],
]
/** Each beside what it is taken for: two ids. */
const ALIKE = [
  ...['a', 'A', 'а', 'á', 'a\u0301', 'ä', 'a\u0308', 'ａ', '𝐚', 'ª', 'å', 'Å', '\u212b', 'Å'],
  ...['tap', 'Tap', 'TAP', 'tap ', ' tap', 'tap\u00a0', 'tаp', 't\u200bap', 'ta\u00adp', 'Táp'],
  ...['ß', 'ss', 'ẞ', 'SS', 'ı', 'i', 'I', 'İ', 'i\u0307', 'ſ', 's', 'K', '\u212a', 'k', 'ﬁ', 'fi'],
  ...[
    '1',
    '１',
    '١',
    '①',
    '01',
    '1.0',
    '1e0',
    '0x1',
    '+1',
    ' 1',
    '1 ',
    '-0',
    '０',
    '',
    'é',
    'e\u0301',
  ],
  ...[
    '\u1e9b\u0323',
    '\u1e69',
    's\u0323\u0307',
    '한',
    '\u1112\u1161\u11ab',
    '👩‍👩‍👧',
    '👩👩👧',
    '🏳️‍🌈',
    '🏳🌈',
  ],
].filter((text) => text !== '')
const PROPERTIES = [
  ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', 'toJSON'],
  ...[
    '__defineGetter__',
    '__lookupSetter__',
    'then',
    'length',
    'id',
    'undefined',
    'NaN',
    '[object]',
  ],
  ...['__proto__.polluted', 'constructor.prototype', '["__proto__"]', 'isPrototypeOf', 'Infinity'],
]
const TEMPLATES = [
  ...[
    '\u0024{7*7}',
    '{{7*7}}',
    '<%= 7 %>',
    '#{7}',
    '`id`',
    '$(id)',
    '| id',
    '; id',
    '&& id',
    '../../x',
  ],
  ...['/etc/passwd', 'C:\\x', 'file:///x', '<script>alert(1)</script>', '"><img src=x onerror=y>'],
  ...['javascript:x', '%00', '%0d%0a', '%2e%2e%2f', '\\u0000', '&lt;', '&#x27;', 'data:,x', '=1+1'],
  ...[
    '@SUM(1)',
    '+1',
    '%n%n%n',
    '%x',
    'x'.repeat(255),
    'x'.repeat(256),
    'x'.repeat(767),
    '\\\\?\\x',
  ],
]
const LIMITS = [
  ...['x'.repeat(768), 'x'.repeat(1023), 'x'.repeat(1024), 'é'.repeat(512), '😀'.repeat(256)],
  ...[`${'x'.repeat(1020)}😀`, "'".repeat(1024), '\\'.repeat(1024), '\u0001'.repeat(1024)],
  ...[
    '\u{10ffff}'.repeat(256),
    '{'.repeat(1024),
    '$'.repeat(1024),
    '.'.repeat(1024),
    '%'.repeat(1024),
  ],
]

/** Distinct, well-formed, without NUL, 1 to 1024 bytes. */
export const HOSTILE: readonly string[] = [
  ...new Set([
    ...[...SQL, ...LUA, ...REDIS, ...MONGO, ...NATS, ...CONTROLS, ...BIDI],
    ...[...ALIKE, ...PROPERTIES, ...TEMPLATES, ...LIMITS],
  ]),
]
