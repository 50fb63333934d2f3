--[[ give_up: a batch of visitors give their places in line back.

KEYS  line entered unattended door asked passed sessions holds networks
ARGV  now_ms seen document
Returns {given_up}
      given_up: of each place true = given back now, false = it is over already, or its request id is from
      before a reset.
Keeps a place that was given back stays so: nobody enters with it, and nobody else is changed.
]]
local args = arguments({
  reset_epoch = 'integer',
  -- Of each place: number and position, as texts; position null = it waits for its draw; network: the digest of its
  -- visitor's, where something is limited.
  places = 'table',
  -- How many draws the positions take into account.
  draws = 'integer',
})
local line = read_line(keys.line)
if not line then return no_room() end

-- Its place comes with the draw, and nobody will have it.
local function leave_pool(number)
  local gone = gone_from_pools(keys)
  if get_bit(gone, number) then return false end
  set_bit(gone, number, 1)
  redis.call('HINCRBY', keys.line, 'left_pools', 1)
  return true
end

local function give_up(number, position)
  if number < 1 or number > line.queue_counter then return false end
  local last = line.pool_last > 0 and line.pool_last or line.queue_counter
  local waits_for_draw = line.pool_first > 0 and number >= line.pool_first and number <= last
  if waits_for_draw then return leave_pool(number) end
  -- The caller's position is of before a draw, or of after one that this place took no part in.
  if not position or args.draws ~= line.draw_count then return false end
  if line.left_pools > 0 and get_bit(gone_from_pools(keys), number) then return false end
  if get_bit(keys.entered, position) then return false end
  set_bit(keys.entered, position, 1)
  if get_bit(keys.unattended, number) then set_bit(keys.unattended, number, 0) end
  leave_door(keys, { position })
  if redis.call('ZREM', keys.holds, position) == 1 then redis.call('ZREM', keys.sessions, number) end
  -- Places that have expired are counted among those.
  if position > line.expired_position then redis.call('HINCRBY', keys.line, 'left', 1) end
  return true
end

local known = args.reset_epoch == line.reset_epoch
local given_up, gone = {}, {}
for i, place in ipairs(args.places) do
  given_up[i] = known and give_up(tonumber(place.number), tonumber(place.position))
  if given_up[i] then gone[#gone + 1] = place end
end
NETWORKS.leave_line_now(gone)
return answer({ given_up = given_up })
