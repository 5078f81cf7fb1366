import { createHash } from 'node:crypto';

/** A Lua script, and the digest by which Redis knows it. */
export type Script = { readonly text: string; readonly sha: string };

const script = (text: string): Script => {
  const whole = common + text;
  return { text: whole, sha: createHash('sha1').update(whole).digest('hex') };
};

/**
 * All scripts get the same keys. `meta` is a hash with epoch, position, event and documents. `texts` and `index` are
 * hashes by `<collection>/<id>`: the document's text, and the rest of its entry as JSON. `notices` is a stream of
 * changes. `lease` has the token of the leader until it expires. `fence` has the token of the last leader, who may
 * write. A message on the channel `notices` only means that something may have changed.
 *
 * `state()` gives epoch, position and event, or false if anything is missing: keys that were evicted, deleted by hand,
 * or overwritten with values of another type. Positions stay texts, because Lua prints large numbers rounded.
 */
const common = `
local meta, texts, index, notices, lease, fence = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local function asked(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then return false end
  return answer
end
local function state()
  local found = asked('HMGET', meta, 'epoch', 'position', 'event', 'documents')
  if not found or not found[1] or not tonumber(found[2]) then return false end
  local documents = tonumber(found[4])
  if asked('HLEN', texts) == documents and asked('HLEN', index) == documents then
    return {found[1], found[2], found[3]}
  end
  return false
end
local function start(epoch)
  redis.call('UNLINK', meta, texts, index, notices)
  redis.call('HSET', meta, 'epoch', epoch, 'position', '0', 'event', '', 'documents', '0')
  return {epoch, '0', ''}
end
local function values(key, first)
  local found = {}
  for at = first, #ARGV, 1000 do
    for _, value in ipairs(redis.call('HMGET', key, unpack(ARGV, at, math.min(at + 999, #ARGV)))) do
      found[#found + 1] = value
    end
  end
  return found
end
`;

/**
 * Arguments: a new epoch, and the text with which epochs must begin. Gives the state. If there is no state with such an
 * epoch, the script first starts afresh.
 */
export const begin = script(`
if asked('XLEN', notices) == false then redis.call('UNLINK', notices) end
local at = state()
if at and string.sub(at[1], 1, #ARGV[2]) == ARGV[2] then return at end
return start(ARGV[1])
`);

/** Argument: a new epoch. Removes everything and gives the empty state. */
export const clear = script(`return start(ARGV[1])`);

/**
 * Arguments: 'texts' or 'whole', then fields. Gives epoch, position, texts and, for 'whole', the rests of the entries;
 * null when the state is lost.
 */
export const read = script(`
local at = state()
if not at then return false end
return {at[1], at[2], values(texts, 2), ARGV[1] == 'whole' and values(index, 2) or {}}
`);

/**
 * Arguments: the epoch, and the first position of interest. Gives position, event and the notices from there on; null
 * when the state is lost or has another epoch.
 */
export const follow = script(`
local at = state()
if not at or at[1] ~= ARGV[1] then return false end
local since = asked('XRANGE', notices, ARGV[2], '+')
return since and {at[2], at[3], since}
`);

/**
 * Arguments: this process's current token ('' for none), a new one, milliseconds. Gives the token to lead with, or ''
 * while another process leads.
 */
export const lead = script(`
local held = asked('GET', lease)
-- One that never ends is none of ours.
if held and redis.call('PTTL', lease) < 0 then held = false end
if held and held ~= ARGV[1] then return '' end
local token = held or ARGV[2]
redis.call('SET', lease, token, 'PX', ARGV[3])
redis.call('SET', fence, token)
return token
`);

/** Argument: the token. Gives the leadership up. */
export const resign = script(`
if asked('GET', lease) ~= ARGV[1] then return 0 end
redis.call('DEL', lease)
redis.call('PUBLISH', notices, '')
return 1
`);

/**
 * Arguments: token, epoch, from, to, event, how many notices to keep; how many documents to write, how many to remove,
 * how many parts to remove; field, text and rest of each document to write; the fields of the documents to remove; the
 * fields of the parts; the fields of all documents in these parts, which are removed first. Gives 1; or 0 when the
 * state is another one, or another process has led since.
 *
 * A step has the notice `<to>-0` (with from), then one notice for each change: its field, and the rest of the entry, or
 * '' for a removal, or '*' for a part.
 *
 * Redis does not roll back. While the script writes, there is no epoch, so a script that fails midway leaves a lost
 * state.
 */
export const apply = script(`
local epoch, from, to, event, keep = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if asked('GET', fence) ~= ARGV[1] then return 0 end
local at = state()
if not at or at[1] ~= epoch or at[2] ~= from or asked('XLEN', notices) == false then return 0 end
if to ~= from then redis.call('XADD', notices, to .. '-0', 'from', from) end
redis.call('HDEL', meta, 'epoch')
local removed = 10 + 3 * tonumber(ARGV[7])
local parts = removed + tonumber(ARGV[8])
local gone = parts + tonumber(ARGV[9])
local step = 0
local function notice(field, rest)
  step = step + 1
  redis.call('XADD', notices, to .. '-' .. step, field, rest)
end
for at = gone, #ARGV, 1000 do
  local last = math.min(at + 999, #ARGV)
  redis.call('HDEL', texts, unpack(ARGV, at, last))
  redis.call('HDEL', index, unpack(ARGV, at, last))
end
for at = parts, gone - 1 do
  notice(ARGV[at], '*')
end
for at = 10, removed - 1, 3 do
  redis.call('HSET', texts, ARGV[at], ARGV[at + 1])
  redis.call('HSET', index, ARGV[at], ARGV[at + 2])
  notice(ARGV[at], ARGV[at + 2])
end
for at = removed, parts - 1 do
  redis.call('HDEL', texts, ARGV[at])
  redis.call('HDEL', index, ARGV[at])
  notice(ARGV[at], '')
end
redis.call('XTRIM', notices, 'MAXLEN', '~', keep)
redis.call('HSET', meta, 'epoch', epoch, 'position', to, 'event', event, 'documents', redis.call('HLEN', texts))
redis.call('PUBLISH', notices, to)
return 1
`);

/**
 * Arguments: token, epoch, position, a new epoch, how many documents to write; field, text and rest of each; the fields of
 * the documents to remove. Gives 1; or 0 when the state is another one, or another process has led since. Processes that
 * follow find the new epoch, and load everything.
 */
export const mend = script(`
if asked('GET', fence) ~= ARGV[1] then return 0 end
local at = state()
if not at or at[1] ~= ARGV[2] or at[2] ~= ARGV[3] then return 0 end
redis.call('HDEL', meta, 'epoch')
redis.call('UNLINK', notices)
local removed = 6 + 3 * tonumber(ARGV[5])
for at = 6, removed - 1, 3 do
  redis.call('HSET', texts, ARGV[at], ARGV[at + 1])
  redis.call('HSET', index, ARGV[at], ARGV[at + 2])
end
for at = removed, #ARGV do
  redis.call('HDEL', texts, ARGV[at])
  redis.call('HDEL', index, ARGV[at])
end
redis.call('HSET', meta, 'epoch', ARGV[4], 'documents', redis.call('HLEN', texts))
redis.call('PUBLISH', notices, '')
return 1
`);
