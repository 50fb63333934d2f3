-- Writes the two phases of a room's config that scripts read: the current one and the next one.
-- `read_settings` reads them.

local PHASES = {
  -- When the phase under way ends, ms; nil = never.
  until_ms = 'integer',
  now = 'table',
  -- nil = none follows.
  next = 'table',
}

-- phase: the settings that scripts read, JSON: see PHASE in room.lua. settings, event: JSON for the
-- snapshot.
local STORED = { phase = 'text', settings = 'text', event = 'text' }

local function write_phases(keys, line, now, document)
  local before = read_settings(keys.settings, now) or {}
  local phases = fields(document, PHASES)
  redis.call('HSET', keys.settings, 'until', phases.until_ms or '')
  for name, text in pairs(fields(phases.now, STORED)) do
    redis.call('HSET', keys.settings, name, text)
  end
  if phases.next then
    for name, text in pairs(fields(phases.next, STORED)) do
      redis.call('HSET', keys.settings, 'next.' .. name, text)
    end
  else
    redis.call('HDEL', keys.settings, 'next.phase', 'next.settings', 'next.event')
  end
  local rejects = read_settings(keys.settings, now).rejects
  excuse(line, not rejects and (before.reopened_at or before.rejects and now) or nil)
  redis.call('HSET', keys.line, 'presence_from', line.presence_from, 'excused_until',
    line.excused_until)
end
