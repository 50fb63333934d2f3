-- Who is in the room: the people that operators are told of, as they are this moment. Needs lib/room and lib/seats.

-- Everyone waiting who is still there, as `RoomSnapshot::waiting` has it: the count of the last tick, those who came
-- since, less those who entered since; and no more than there are places.
local function people_waiting(key, line)
  local figures = cjson.decode(redis.call('HGET', key, 'figures') or '{}')
  local ahead = figures.ahead or {}
  local counted_to = #ahead > 0 and tonumber(ahead[#ahead][1]) or math.max(line.serving_counter, 0)
  local counted_in = tonumber(figures.admitted) or line.admitted
  local came = math.max(line.queue_counter - counted_to, 0)
  local entered = math.max(line.admitted - counted_in, 0)
  local waiting = (tonumber(figures.waiting) or 0) + came - entered
  local over = line.admitted + line.left + line.expired + line.skipped + line.left_pools
  return math.max(math.min(waiting, line.queue_counter - over), 0)
end

-- How many wait, and how many are inside, whose seats Redis may have lost included.
local function people_in(keys, line, now)
  return people_waiting(keys.line, line), seats_taken(keys.sessions, line, now)
end
