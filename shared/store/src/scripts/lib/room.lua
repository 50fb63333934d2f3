-- What every script of a room begins with: the line, the fence, and the settings.

local LINE = {
  'reset_epoch', 'generation', 'queue_counter', 'serving_counter', 'admitted', 'expired',
  'expired_position', 'promised', 'left', 'unconfirmed', 'unconfirmed_until', 'skipped',
  'leader_epoch', 'restored_at', 'presence_from', 'tokens_until',
  'pool_first', 'pool_last', 'draw_count', 'cumulative_hazard',
  'excused_until', 'ticked_at', 'ticked_ahead', 'held_from', 'held_at', 'heard_at', 'free_since', 'free_least',
  'came_known', 'came_unknown',
  'came_after_ms', 'unknown_period_ms', 'turn_hold_ms', 'aws_joined', 'aws_admitted', 'left_pools',
  'kept_from', 'kept_until', 'entered_upto', 'kept_out', 'numbers_ticked', 'numbers_ticked_at',
}

-- The line as numbers, or nil when the store does not know the room.
local function read_line(key)
  local values = redis.call('HMGET', key, unpack(LINE))
  if not values[1] then return nil end
  local line = {}
  for i, name in ipairs(LINE) do line[name] = tonumber(values[i]) or 0 end
  return line
end

-- Sessions that last until then count, ms. After something was lost these are also those that have ended since, for as
-- long as somebody of whom nobody has heard may have renewed them.
local function sessions_from(line, now)
  return line.kept_until >= now and math.min(line.kept_from, now) or now
end

-- These parts of the line, to be written later as far as they have changed.
local function parts_of(line, names)
  local parts = { names = names }
  for i, name in ipairs(names) do parts[i] = line[name] end
  return parts
end

-- Writes those parts of the line that are no longer as they were.
local function write_changes(key, line, parts)
  local changed = {}
  for i, name in ipairs(parts.names) do
    if line[name] ~= parts[i] then changed[#changed + 1], changed[#changed + 2] = name, line[name] end
  end
  if #changed > 0 then redis.call('HSET', key, unpack(changed)) end
end

-- Too much is asked at once: nothing is done.
local function crowded()
  return redis.error_reply('CROWDED more than can be done for now')
end

local function no_room()
  return redis.error_reply('NOROOM the store does not hold this room')
end

-- Fencing: a write of a leader whose lease has passed to another is refused.
-- Returns an error reply for a stale leader, `FENCED` and the later epoch; records the epoch of a
-- newer leader.
local function fenced(key, line, epoch)
  if epoch < line.leader_epoch then
    return redis.error_reply(string.format('FENCED %d', line.leader_epoch))
  end
  if epoch > line.leader_epoch then redis.call('HSET', key, 'leader_epoch', epoch) end
  return nil
end

-- The settings that scripts read in a phase. Rust writes them: see `PhaseSettings`. Limits, expiry and
-- draw_id are nil if there is none.
local PHASE = {
  total_active_users = 'integer', new_users_per_minute = 'integer',
  session_duration_seconds = 'integer', token_validity_seconds = 'integer',
  position_expiry_seconds = 'integer', advance_on_position_expiry = 'flag',
  -- Nobody enters; the room is off; everyone enters; newcomers are turned away.
  held = 'flag', suspended = 'flag', open = 'flag', rejects = 'flag',
  renews_sessions = 'flag',
  -- How long a seat is held for somebody whose turn it is; nil: as learnt.
  turn_hold_seconds = 'integer',
  -- The draw that newcomers wait for.
  draw_id = 'text',
}

-- The settings in force at `now`: those of the current phase or, after its end, those of the next
-- phase, even before the leader has switched. Nil when the store does not hold them.
local function read_settings(key, now)
  local stored = redis.call('HMGET', key, 'until', 'phase', 'next.phase')
  if not stored[2] then return nil end
  local until_ms = tonumber(stored[1])
  local is_over = until_ms and now >= until_ms or false
  local settings = fields(cjson.decode(is_over and stored[3] or stored[2]), PHASE)
  settings.phase_is_over = is_over
  settings.until_ms = not is_over and until_ms or nil
  -- The room turned newcomers away until the end of the phase.
  if is_over and not settings.rejects and cjson.decode(stored[2]).rejects then
    settings.reopened_at = until_ms
  end
  return settings
end

-- The line and the settings in force at `now`. Nil when the store has lost either: then the leader
-- restores it. Scripts read both before they write, so that nothing is half done.
local function read_room(keys, now)
  local line = read_line(keys.line)
  local settings = line and read_settings(keys.settings, now)
  if not settings then return nil end
  return line, settings
end

-- The settings and the event of the phase that `settings` were read from, as JSON.
local function phase_texts(key, settings)
  local prefix = settings.phase_is_over and 'next.' or ''
  local stored = redis.call('HMGET', key, prefix .. 'settings', prefix .. 'event')
  return { settings = stored[1], event = stored[2] }
end

-- For how long presence is incomplete once people may check in again, ms: a hidden tab polls once a
-- minute.
local GATHERING_MS = 62000

-- Excuses check-ins missed until `reopened_at`, because nobody could check in before. For GATHERING_MS
-- after it everyone counts as present.
local function excuse(line, reopened_at)
  if not reopened_at then return end
  line.excused_until = math.max(line.excused_until, reopened_at)
  line.presence_from = math.max(line.presence_from, reopened_at + GATHERING_MS)
end

-- Whether nobody enters for now: the room is held, turns people away, or waits for a draw.
local function is_held(settings, line)
  return settings.held or settings.rejects or line.pool_first > 0
end

-- Whether everyone enters, whatever the limits.
local function is_open(settings, line)
  return settings.open and not is_held(settings, line)
end

-- The member of `seatless` that says that the visitor of a position waits without asking for a seat (`w`), or has
-- asked for a hold that it might not have (`h`).
local function extension_of(position, how) return (how or 'w') .. string.format('%d', position) end

-- Opens or closes the pool of those who wait for a draw, at the number handed out last. Called before
-- numbers are handed out, so the pool is exact whichever script runs first after the change.
local function keep_pool(key, line, settings)
  if settings.draw_id and line.pool_first == 0 then
    line.pool_first = line.queue_counter + 1
    redis.call('HSET', key, 'pool_first', line.pool_first, 'pool_last', 0,
      'pool_id', settings.draw_id)
  elseif not settings.draw_id and line.pool_first > 0 and line.pool_last == 0 then
    -- An empty pool is dropped.
    if line.queue_counter < line.pool_first then line.pool_first = 0 end
    line.pool_last = line.pool_first > 0 and line.queue_counter or 0
    redis.call('HSET', key, 'pool_first', line.pool_first, 'pool_last', line.pool_last)
  end
end
