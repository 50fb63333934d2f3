--[[ call_witnesses: the leader asks every service what it has seen of a room whose stored state may not be its latest.

KEYS  line settings sessions records tokens entered rate rows ended holds draws inlet testimony
ARGV  now_ms seen document
Returns {stored, server, is_partial, unseen, created_epoch, is_held, version}, and the config, JSON
      stored: the snapshot of the stored state, JSON; nil: there is none. server: the run_id of the server process that it
      is of; empty: it is not known. is_partial: a part of it was lost. unseen: the state was restored from a backup: so
      many numbers may have been handed out since. created_epoch: the room's first reset epoch; nil: it was lost. is_held, version and the config: as in `read_config`.
Keeps from now on nobody but the leader changes the room, until `reopen`.
]]
local args = arguments({
  room = 'text', leader_epoch = 'integer',
  -- Names this round of questions. Services tell for which one they answer.
  round = 'text',
})
local line = read_line(keys.line)
local refusal = line and fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
-- The answers to an earlier round say nothing of what was seen since; but if it was never ended, nothing was, and who
-- answered it may have stopped.
if not redis.call('HGET', keys.testimony, 'round') then redis.call('UNLINK', keys.testimony) end
redis.call('HSET', keys.testimony, 'round', args.round)
redis.call('EXPIRE', keys.testimony, 3600)
local stored, is_partial, unseen = nil, false, nil
if line then
  -- Of a room that was brought to its latest state and never opened, not all seats may have been put back.
  is_partial = stamp.is_partial or stamp.suspect == 'partial' or stamp.suspect == 'reconciled'
  redis.call('HSET', keys.line, 'suspect', is_partial and 'partial' or stamp.suspect or 'older')
  unseen = tonumber(redis.call('HGET', keys.line, 'unseen'))
  stored = snapshot(keys, args.room, now)
end
-- Of a room that has lost its state alone it is still there.
local config = redis.call('HMGET', keys.settings, 'config', 'version', 'created_epoch')
push('alarms', args.room)
local text = config[1] or ''
return seal({ encode({ stored = stored, server = line and stamp.run_id or '', is_partial = is_partial, unseen = unseen,
  created_epoch = tonumber(config[3] or nil), is_held = text ~= '', version = tonumber(config[2]) or 0 }), text })
