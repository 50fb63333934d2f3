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
  'expired_position', 'promised', 'promised_at', 'unconfirmed', 'unconfirmed_until', 'skipped',
  'leader_epoch', 'restored_at', 'presence_from', 'tokens_until',
  'gap_first', 'gap_last', 'pool_first', 'pool_last', 'draw_count', 'cumulative_hazard', 'excused_until',
  'ticked_at', 'held_at',
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

-- The names of the same for the phase that follows; made when they are needed, which is seldom.
local function next_settings()
  local names = {}
  for i, name in ipairs(SETTINGS) do names[i] = 'next.' .. name end
  return names
end

-- The settings in force at `now`: those of the phase under way, or, from `until` on, of the one
-- that follows, whether the leader has turned the page yet or not. Limits and expiry are nil when
-- the operator set none.
local function read_settings(key, now)
  local until_ms = tonumber(redis.call('HGET', key, 'until'))
  local has_turned = until_ms and now >= until_ms
  local values = redis.call('HMGET', key, unpack(has_turned and next_settings() or SETTINGS))
  local reopened = has_turned and values[12] ~= '1' and redis.call('HGET', key, 'rejects') == '1'
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
    has_turned = has_turned,
    reopened_at = reopened and until_ms or nil,
  }
end

-- How long presence takes to come together again once people may come back, ms: a hidden tab comes
-- once a minute.
local GATHERING_MS = 62000

-- Whoever was turned away until `reopened_at` could not check in: till they have come back, all
-- count as there.
local function excuse(line, reopened_at)
  if not reopened_at then return end
  line.excused_until = math.max(line.excused_until, reopened_at)
  line.presence_from = math.max(line.presence_from, reopened_at + GATHERING_MS)
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
    -- Where nobody came, nobody waits.
    if line.queue_counter < line.pool_first then line.pool_first = 0 end
    line.pool_last = line.pool_first > 0 and line.queue_counter or 0
    redis.call('HSET', key, 'pool_first', line.pool_first, 'pool_last', line.pool_last)
  end
end
