--[[ touch: renew a batch of sessions of those inside.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 records (hash)  5 entered (bitmap)
ARGV  1 now (ms, 0 = the server's clock)  2 key id for new tokens  3 issuer for new records, then
      for each: reset epoch, queue number, position, and of its ticket: generation, issued at,
      expires at
Returns {now ms, generation, {live (1 or 0), issued at, expires at, key id, issuer} per session}
      A visitor's session ends a session length after the last touch; its token is renewed in the
      second half of its life. A session that a lost store forgot is rebuilt from the ticket.
Keeps (2) a rebuilt session takes one of the seats held back for it; a token never outlives it.
]]
assert(#KEYS == 5 and #ARGV >= 3 and (#ARGV - 3) % 6 == 0,
  'touch: wrong number of keys or arguments')
local now = time_ms(ARGV[1])
local line = read_line(KEYS[1])
if not line then return no_room() end
local settings = read_settings(KEYS[2], now)
local keys = { sessions = KEYS[3], records = KEYS[4], entered = KEYS[5] }

local function rebuilt(number, position, generation, iat, exp)
  if generation >= line.generation or session_end(exp) < now then return nil end
  if redis.call('GETBIT', keys.entered, position) == 1 then return nil end
  local record = { iat = iat, exp = exp, status = 0, kind = 'v', kid = ARGV[2], request_id = '',
    issuer = ARGV[3] }
  seat(keys, number, position, record)
  line.unconfirmed = math.max(line.unconfirmed - 1, 0)
  redis.call('HSET', KEYS[1], 'unconfirmed', line.unconfirmed)
  return record
end

local function touch(epoch, number, position, generation, iat, exp)
  if epoch ~= line.reset_epoch then return { 0 } end
  local record = unpack_record(redis.call('HGET', keys.records, number))
  if not record then record = rebuilt(number, position, generation, iat, exp) end
  if not record or record.status ~= 0 then return { 0 } end
  if not is_live(keys, number, now) then return { 0 } end
  if record.kind == 'v' then renew(keys, settings, number, record, ARGV[2], now) end
  return { 1, record.iat, record.exp, record.kid, record.issuer }
end

local sessions = {}
for i = 4, #ARGV, 6 do
  sessions[#sessions + 1] = touch(tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]),
    tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5]))
end
return { now, line.generation, sessions }
