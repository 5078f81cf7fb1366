import { createHash } from 'node:crypto';

/** A Lua script: the text, and the digest by which Redis knows it. */
export type Script = { readonly text: string; readonly sha: string };

const script = (text: string): Script => {
  const whole = common + text;
  return { text: whole, sha: createHash('sha1').update(whole).digest('hex') };
};

/**
 * All scripts get the same keys: `meta` (hash: epoch, position, event, documents), `texts` and `index` (hashes by
 * `<collection>/<id>`: the document's text, and as JSON the rest of its entry), `notices` (stream of what changed),
 * `lease` (token of who leads, until it expires) and `fence` (token of who led last: who may write). What is published
 * on the channel `notices` says no more than that it is worth to look. `state()` is epoch, position and event, or false
 * if anything is missing: keys evicted, deleted by hand, or overwritten with values of another type count as lost.
 * Positions stay text, since Lua prints large numbers rounded.
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
 * A new epoch, and what epochs must begin with. Gives the state, after starting afresh if there is none of that kind.
 */
export const begin = script(`
if asked('XLEN', notices) == false then redis.call('UNLINK', notices) end
local at = state()
if at and string.sub(at[1], 1, #ARGV[2]) == ARGV[2] then return at end
return start(ARGV[1])
`);

/** A new epoch. Removes everything. */
export const clear = script(`return start(ARGV[1])`);

/**
 * 'texts' or 'whole', then fields. Gives epoch, position, texts and, for 'whole', the rest of the entries; null when
 * lost.
 */
export const read = script(`
local at = state()
if not at then return false end
return {at[1], at[2], values(texts, 2), ARGV[1] == 'whole' and values(index, 2) or {}}
`);

/**
 * Epoch and the least position of interest. Gives position, event and the notices from there on; null when lost or
 * foreign.
 */
export const follow = script(`
local at = state()
if not at or at[1] ~= ARGV[1] then return false end
local since = asked('XRANGE', notices, ARGV[2], '+')
return since and {at[2], at[3], since}
`);

/**
 * The token had so far ('' for none), a new one, milliseconds. Gives the token to lead with, or '' while another leads.
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

/** The token. Gives the leadership up. */
export const resign = script(`
if asked('GET', lease) ~= ARGV[1] then return 0 end
redis.call('DEL', lease)
redis.call('PUBLISH', notices, '')
return 1
`);

/**
 * Token, epoch, from, to, event, how many notices to keep; how many documents to write, to remove, and parts to remove;
 * for each document to write its field, text and rest; the fields to remove; the fields of the parts; then the fields
 * of all that goes with the parts, which goes first. Gives 1, or 0 when the state is another, or another has led since.
 *
 * A step has the notice `<to>-0` (from), then one for each change (its field, and the rest, '' when removed, '*' for a
 * part).
 * Redis does not roll back: while the script writes there is no epoch, so that one that fails midway leaves a lost
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
