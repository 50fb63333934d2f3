-- What every script of a room begins with: the time, the line, and the settings.

-- Redis's own clock in ms, unless a test or a simulation names the time (ARGV "0" = the clock).
local function time_ms(argument)
  if argument ~= '0' then return tonumber(argument) end
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

-- Numbers handed out that nobody remembers may be this many when the store lost its last writes.
local GAP = 10000

local LINE = {
  'reset_epoch', 'generation', 'queue_counter', 'serving_counter', 'admitted', 'expired',
  'expired_position', 'promised', 'promised_at', 'phantom', 'phantom_until', 'skipped',
  'leader_epoch', 'restored_at', 'presence_from', 'tokens_until',
  'gap_first', 'gap_last',
}

-- The line as numbers, or nil when the store does not know the room.
local function read_line(key)
  local values = redis.call('HMGET', key, unpack(LINE))
  if not values[1] then return nil end
  local line = {}
  for i, name in ipairs(LINE) do line[name] = tonumber(values[i]) or 0 end
  return line
end

local function no_room()
  return redis.error_reply('NOROOM the store does not hold this room')
end

-- Lifts the queue counter over a number that somebody has seen: the store lost its last writes.
local function catch_up(key, line, known)
  if known <= line.queue_counter then return end
  line.queue_counter = known + GAP
  line.skipped = line.skipped + GAP
  line.gap_first, line.gap_last = known + 1, known + GAP
  redis.call('HSET', key, 'queue_counter', line.queue_counter, 'skipped', line.skipped,
    'gap_first', line.gap_first, 'gap_last', line.gap_last)
end

local SETTINGS = {
  'json', 'total', 'rate', 'session', 'validity', 'expiry', 'auto', 'queue_all', 'suspended',
}

-- The settings; limits and expiry are nil when the operator set none.
local function read_settings(key)
  local values = redis.call('HMGET', key, unpack(SETTINGS))
  return {
    json = values[1],
    total = tonumber(values[2]),
    rate = tonumber(values[3]),
    session = tonumber(values[4]),
    validity = tonumber(values[5]),
    expiry = tonumber(values[6]),
    auto = values[7] == '1',
    queue_all = values[8] == '1',
    suspended = values[9] == '1',
  }
end

-- Writes the settings from ARGV, `first` being the JSON and the rest as in SETTINGS.
local function write_settings(key, first)
  for i, name in ipairs(SETTINGS) do redis.call('HSET', key, name, ARGV[first + i - 1]) end
end
