-- The room's config: what its operator has set and scheduled, and the two phases of it that the
-- scripts go by: the one under way, and the one that follows.

local function write_phase(key, names, first)
  for i, name in ipairs(names) do redis.call('HSET', key, name, ARGV[first + i - 1]) end
end

-- Writes from ARGV: when the phase under way ends (ms, "" = never), its settings, and those of the
-- phase that follows (all "" if none does).
local function write_phases(keys, line, now, first)
  local before = read_settings(keys.settings, now)
  redis.call('HSET', keys.settings, 'until', ARGV[first])
  write_phase(keys.settings, SETTINGS, first + 1)
  write_phase(keys.settings, next_settings(), first + 1 + #SETTINGS)
  local rejects = read_settings(keys.settings, now).rejects
  excuse(line, not rejects and (before.reopened_at or before.rejects and now) or nil)
  redis.call('HSET', keys.line, 'presence_from', line.presence_from, 'excused_until',
    line.excused_until)
end

-- How many arguments `write_phases` takes.
local PHASES = 1 + 2 * #SETTINGS
