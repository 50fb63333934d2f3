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
  'gap_first', 'gap_last', 'pool_first', 'pool_last', 'draw_count', 'hazard', 'excused_until',
  'ticked_at',
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

-- What a phase sets, besides its settings and its event as JSON: limits and times; whether the
-- room is held (nobody enters), off, open to all, or turns newcomers away; whether sessions are
-- renewed; and the id of the draw that newcomers wait for.
local SETTINGS = {
  'json', 'event', 'total', 'rate', 'session', 'validity', 'expiry', 'auto', 'held', 'suspended',
  'open', 'rejects', 'renew', 'draw',
}
local NEXT = {}
for i, name in ipairs(SETTINGS) do NEXT[i] = 'next.' .. name end

-- The settings in force at `now`: those of the phase under way, or, from `until` on, of the one
-- that follows, whether the leader has turned the page yet or not. Limits and expiry are nil when
-- the operator set none.
local function read_settings(key, now)
  local until_ms = tonumber(redis.call('HGET', key, 'until'))
  local names = until_ms and now >= until_ms and NEXT or SETTINGS
  local values = redis.call('HMGET', key, unpack(names))
  return {
    json = values[1],
    event = values[2],
    total = tonumber(values[3]),
    rate = tonumber(values[4]),
    session = tonumber(values[5]),
    validity = tonumber(values[6]),
    expiry = tonumber(values[7]),
    auto = values[8] == '1',
    held = values[9] == '1',
    suspended = values[10] == '1',
    open = values[11] == '1',
    rejects = values[12] == '1',
    renew = values[13] == '1',
    draw = values[14] ~= '' and values[14] or nil,
    has_turned = names == NEXT,
  }
end

-- Whether nobody enters for now: the room is held, turns people away, or waits for a draw.
local function is_held(settings, line)
  return settings.held or settings.rejects or line.pool_first > 0
end

-- Whether everyone enters, over the limits.
local function is_open(settings, line)
  return settings.open and not is_held(settings, line)
end

-- Opens or closes the pool of those who wait for a draw, at the number handed out last. Called
-- before numbers are handed out, so that the pool is exact whoever notices the time first.
local function keep_pool(key, line, settings)
  if settings.draw and line.pool_first == 0 then
    line.pool_first = line.queue_counter + 1
    redis.call('HSET', key, 'pool_first', line.pool_first, 'pool_last', 0, 'pool_id', settings.draw)
  elseif not settings.draw and line.pool_first > 0 and line.pool_last == 0 then
    line.pool_last = line.queue_counter
    redis.call('HSET', key, 'pool_last', line.pool_last)
  end
end
