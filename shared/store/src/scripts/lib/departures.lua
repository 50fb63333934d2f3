-- How sessions and places end before their time. Needs lib/bitmaps, lib/room, lib/seats and lib/door.

local DEPARTURES = {}
do
  -- The status of a record.
  local STATUS = { completed = 1, abandoned = -1, revoked = -2 }

  -- A number without a live record has no session, but it counts among the seats until its time.
  local function end_seat(keys, number, record, seat)
    local outlasts = seat == 'with_token' or seat == 'with_aws_style_token' and record.kind == 'a'
    if outlasts and session_end(record.exp) >= now then
      redis.call('ZADD', keys.sessions, session_end(record.exp), number)
    else
      redis.call('ZREM', keys.sessions, number)
    end
  end

  -- Ends the session of a number. `seat`: until when its seat counts as taken, at_once, with_token, or
  -- with_aws_style_token (at once, if its token is none). Returns when its last token expires, unix s; nil: it has none.
  -- keys: line, sessions, records, ended.
  DEPARTURES.end_session = function(keys, number, ended_as, seat)
    local record = unpack_record(redis.call('HGET', keys.records, number))
    if not record or record.status ~= 0 then return nil end
    end_seat(keys, number, record, seat)
    redis.call('ZADD', keys.ended, record.exp, number)
    redis.call('HINCRBY', keys.line, ended_as, 1)
    if record.kind == 'v' then
      -- Its bit in `entered` without a record means that the session has ended.
      redis.call('HDEL', keys.records, number)
    else
      record.status = STATUS[ended_as]
      redis.call('HSET', keys.records, number, pack_record(record))
    end
    return record.exp
  end

  -- Its place comes with the draw, and nobody will have it.
  local function leave_pool(keys, number)
    local gone = gone_from_pools(keys)
    if get_bit(gone, number) then return false end
    set_bit(gone, number, 1)
    redis.call('HINCRBY', keys.line, 'left_pools', 1)
    return true
  end

  -- Takes a number's place out of the line. position: nil = it waits for its draw; draws: how many it takes into
  -- account. Returns whether there was a place, and whether the position is of before a draw, or of after one that the
  -- place took no part in. keys: line, entered, unattended, door, asked, passed, sessions, holds.
  DEPARTURES.give_up = function(keys, line, number, position, draws)
    if number < 1 or number > line.queue_counter then return false, false end
    local last = line.pool_last > 0 and line.pool_last or line.queue_counter
    local waits_for_draw = line.pool_first > 0 and number >= line.pool_first and number <= last
    if waits_for_draw then return leave_pool(keys, number), false end
    if not position or draws ~= line.draw_count then return false, true end
    if line.left_pools > 0 and get_bit(gone_from_pools(keys), number) then return false, false end
    if get_bit(keys.entered, position) then return false, false end
    set_bit(keys.entered, position, 1)
    if get_bit(keys.unattended, number) then set_bit(keys.unattended, number, 0) end
    leave_door(keys, { position })
    if redis.call('ZREM', keys.holds, position) == 1 then redis.call('ZREM', keys.sessions, number) end
    -- Places that have expired are counted among those.
    if position > line.expired_position then redis.call('HINCRBY', keys.line, 'left', 1) end
    return true, false
  end
end
