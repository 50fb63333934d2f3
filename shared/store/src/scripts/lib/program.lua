-- The room's program: what its operator has set and scheduled, and the two phases of it that the
-- scripts go by: the one under way, and the one that follows.

-- How long presence takes to come together again once people may come back, ms.
local GATHERING_MS = 60000

local function write_phase(key, names, first)
  for i, name in ipairs(names) do redis.call('HSET', key, name, ARGV[first + i - 1]) end
end

-- Writes from ARGV: when the phase under way ends (ms, "" = never), its settings, and those of the
-- phase that follows (all "" if none does).
local function write_phases(keys, line, now, first)
  local before = redis.call('HGET', keys.settings, 'rejects')
  redis.call('HSET', keys.settings, 'until', ARGV[first])
  write_phase(keys.settings, SETTINGS, first + 1)
  write_phase(keys.settings, NEXT, first + 1 + #SETTINGS)
  -- Whoever was turned away could not check in: until they have come back, all count as there.
  if before == '1' and not read_settings(keys.settings, now).rejects then
    redis.call('HSET', keys.line, 'presence_from', now + GATHERING_MS, 'excused_until', now)
  end
end

-- How many arguments `write_phases` takes.
local PHASES = 1 + 2 * #SETTINGS
