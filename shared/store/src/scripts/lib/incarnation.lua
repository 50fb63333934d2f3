-- Which state of the room this is, and what time it is in the room. Redis may go back to an older state, and nothing
-- says so; and its clock may jump. So each state carries a stamp, and each caller says which one it has seen. A call
-- on a state that may not be the room's latest is refused; until the leader has heard what all services remember
-- (`reconcile`) nobody else touches it.
--
-- The stamp, in `line`: reset_epoch and generation (raised when a room is put together anew from what is remembered),
-- nonce (of that time), follows (what it was put together from), seq (raised by every call that may write), run_id (the
-- server process that it was written on).
-- `suspect`: such a state was found, or one that is `partial`, without a key that it had (`lib/parts.lua`), or that was
-- put back from a backup; `reconciled`, but not open yet; or the room is `closed`, about to move to another server. clock_ms: the room's time at the last write; clock_ahead: what is added to the server's clock. ACCESS, from the
-- registry: `reads`, `writes`, `copies`, for which a closed room is good enough, or `repairs`, which is never refused.
-- `rests`: 1 = the leader looks at the room seldom, and is told as soon as somebody changes it.

-- The stamp of the stored state (nil: there is no room; is_in_doubt(): whether it may not be the latest), and the room's
-- time, ms.
local stamp, now
-- seal(answer): ends every script of a room. answer(table): the same, for a document. begin_state(reset_epoch,
-- generation, nonce, seq, follows): writes the stamp of a state that begins now; it goes on counting if seq is nil;
-- follows: from which states, JSON (`Lineage` in the domain crate); nil: none. confirm_state(): it is of this server.
local seal, answer, begin_state, confirm_state
-- rest(still): whether the room rests from now on.
local rest
-- Whether the caller has seen any state of the room.
local was_seen
do
  -- These change nothing that the leader would have to look at soon; or the room is no more.
  local LETS_REST = { begin_tick = true, apply_plan = true, roll_up = true, note_counts = true, touch = true,
    testify = true, delete_room = true }

  -- What there is to go by where the stored state is lost.
  local lost = { seq = 0, clock_ms = 0, clock_ahead = 0 }

  local asked
  local function server_run_id()
    asked = asked or read_server()
    return asked
  end

  -- What the caller has seen: ARGV 2, "epoch:generation:nonce:seq:room's time:server"; nil: nothing. A time of 0 is
  -- unknown, and an epoch of 0 says that nothing was seen but the deployment's time (`tell_time`). server: the run_id of
  -- the server on which a controller has heard of the caller; empty: it need not be heard of.
  local function read_seen(text)
    local epoch, generation, nonce, seq, about, server = string.match(text, '^(%d+):(%d+):([^:]*):(%d+):(%d+):(%x*)$')
    if not epoch then return nil end
    return { reset_epoch = tonumber(epoch), generation = tonumber(generation), nonce = nonce, seq = tonumber(seq),
      about_ms = tonumber(about), server = server }
  end

  local function read_stamp()
    local stored = redis.call('HMGET', keys.line, 'reset_epoch', 'generation', 'nonce', 'run_id', 'seq', 'suspect',
      'clock_ms', 'clock_ahead', 'rests', 'parts')
    if not stored[1] then return nil end
    PARTS.read(stored[10] or nil, tonumber(stored[5]) or 0)
    return { reset_epoch = tonumber(stored[1]), generation = tonumber(stored[2]) or 0, nonce = stored[3] or '',
      run_id = stored[4] or '', seq = tonumber(stored[5]) or 0, suspect = stored[6],
      clock_ms = tonumber(stored[7]) or 0, clock_ahead = tonumber(stored[8]) or 0,
      rests = stored[9] == '1' }
  end

  -- Whether `seen` is of a later state than the stored one, or of one that has nothing to do with it.
  local function is_older(seen)
    if stamp.reset_epoch ~= seen.reset_epoch then return stamp.reset_epoch < seen.reset_epoch end
    if stamp.generation ~= seen.generation then return stamp.generation < seen.generation end
    return stamp.nonce ~= seen.nonce or stamp.seq < seen.seq
  end

  -- Whether the stored state may not be the latest: it was written by another process than this server, or somebody
  -- has seen a later one.
  local function is_rewound(seen)
    local run_id = server_run_id()
    if stamp.run_id ~= '' and run_id ~= '' and stamp.run_id ~= run_id then return true end
    return was_seen and is_older(seen) or false
  end

  -- Whether nobody would ask the caller what it has changed, since it is known on another server.
  local function is_stranger(seen)
    local run_id = server_run_id()
    return seen and seen.server ~= '' and run_id ~= '' and seen.server ~= run_id
  end

  -- Whether the state was found not to be the latest, or to be kept from this call.
  local function is_closed() return stamp.suspect and not (ACCESS == 'copies' and stamp.suspect == 'closed') end

  -- Everybody who hears it tells the leader what it remembers of the room.
  local function raise_alarm()
    redis.call('HSET', keys.line, 'suspect', stamp.is_partial and 'partial' or 'older')
    push('alarms', string.match(keys.line, '{(.-)}'))
  end

  -- The room's time: see `steady_time`.
  local function room_time(seen, server_ms, before)
    local at, ahead, has_jumped = steady_time(server_ms, before.clock_ahead, before.clock_ms, seen and seen.about_ms or 0)
    if has_jumped then before.clock_ahead, before.has_jumped = ahead, true end
    return at
  end

  local function stamp_text()
    return string.format('%d:%d:%s:%d:%d', stamp.reset_epoch, stamp.generation, stamp.nonce, stamp.seq, now)
  end

  rest = function(still)
    if still == stamp.rests then return end
    stamp.rests = still
    redis.call('HSET', keys.line, 'rests', still and 1 or 0)
    if not still then push('wakes', string.match(keys.line, '{(.-)}')) end
  end

  seal = function(told)
    if not stamp then return { '', told } end
    if ACCESS == 'writes' then
      redis.call('HSET', keys.line, 'seq', stamp.seq, 'clock_ms', now, 'parts', PARTS.text(stamp.seq))
    elseif ACCESS == 'repairs' then
      redis.call('HSET', keys.line, 'parts', PARTS.text(stamp.seq))
    end
    if ACCESS == 'writes' or ACCESS == 'repairs' then
      if stamp.rests and not LETS_REST[SCRIPT] then rest(false) end
      if stamp.has_jumped then redis.call('HSET', keys.line, 'clock_ahead', stamp.clock_ahead) end
    end
    return { stamp_text(), told }
  end
  answer = function(document) return seal(encode(document)) end

  begin_state = function(reset_epoch, generation, nonce, seq, follows)
    local before = stamp or lost
    stamp = { reset_epoch = reset_epoch, generation = generation, nonce = nonce, run_id = server_run_id(),
      seq = seq or before.seq, clock_ms = now, clock_ahead = before.clock_ahead,
      -- The leader, who let it rest, has to be told still.
      rests = before.rests or false }
    redis.call('HSET', keys.line, 'reset_epoch', reset_epoch, 'generation', generation, 'nonce', nonce,
      'follows', follows or '[]', 'run_id', stamp.run_id, 'seq', stamp.seq, 'clock_ms', now,
      'clock_ahead', stamp.clock_ahead)
  end

  confirm_state = function()
    stamp.run_id = server_run_id()
    redis.call('HSET', keys.line, 'run_id', stamp.run_id)
  end

  local seen = read_seen(ARGV[2])
  was_seen = seen ~= nil and seen.reset_epoch > 0
  stamp = read_stamp()
  now = room_time(seen, time_ms(ARGV[1]), stamp or lost)
  -- Whoever repairs goes on, but would hide it.
  if stamp and (ACCESS == 'repairs' or not is_closed()) and PARTS.is_one_lost() then
    stamp.is_partial = true
    if stamp.suspect ~= 'partial' then raise_alarm() end
  end
  local function is_in_doubt() return stamp.is_partial or is_closed() or is_rewound(seen) end
  if stamp then stamp.is_in_doubt = is_in_doubt end
  if stamp and ACCESS ~= 'repairs' and is_in_doubt() then
    if not stamp.suspect and not stamp.is_partial then raise_alarm() end
    return redis.error_reply('REWOUND the state of this room may not be its latest')
  end
  if ACCESS == 'writes' and is_stranger(seen) then
    return redis.error_reply('STRANGER no controller has heard of the caller on this server')
  end
  if stamp and ACCESS == 'writes' then
    stamp.seq = stamp.seq + 1
    -- A release without stamps has begun this state: from here on it is known where it was written.
    if stamp.run_id == '' and server_run_id() ~= '' then confirm_state() end
  end
end
