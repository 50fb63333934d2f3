-- Fencing: a write of a leader whose lease has passed to another is refused.

-- Returns an error reply for a stale leader, whose only word is the epoch of the later one; records
-- the epoch of a newer leader.
local function fenced(key, line, epoch)
  if epoch < line.leader_epoch then
    return redis.error_reply(string.format('FENCED %d', line.leader_epoch))
  end
  if epoch > line.leader_epoch then redis.call('HSET', key, 'leader_epoch', epoch) end
  return nil
end
