/** The queries of `watch.ts`. Each has a parameter for every room, or key, in `part`. */

const places = (part: string[], first: number): string =>
  part.map((_, i) => `$${i + first}`).join(', ')

/**
 * Values that change with each change of a room: its exchanges since $1, and since $2, from which the next look counts,
 * and its messages that are being sent, because the request that caused them is recorded after them.
 */
export const markersOf = (part: string[]): string =>
  `select room, count(exchange_id) || ' ' || coalesce(max(exchange_id), '') as seen,
     count(case when exchange_id >= $2 then 1 end) || ' ' ||
       coalesce(max(case when exchange_id >= $2 then exchange_id end), '') as later,
     (select count(*) || ' ' || coalesce(max(message_id), '') from webhooks
        join webhook_messages messages on messages.webhook_id = webhooks.webhook_id
      where webhooks.account = room and messages.status = 'PENDING' and due_at is null) as pending
   from accounts left join exchanges on exchanges.account = room and exchange_id >= $1
   where room in (${places(part, 3)}) and ended = 0 group by room`

/** Attempts that can be taken at $1, attempts with an answer, and listeners that are not connected after $2. */
export const listenersOf = (part: string[]): string =>
  `select case when answer is null then 'attempt' else 'answer' end as kind, webhook_id, attempt_id
   from listener_attempts where account in (${places(part, 3)})
     and (answer is not null or (taken = 0 and expires > $1))
   union all select 'left', webhook_id, '' from webhooks where account in (${places(part, 3)})
     and listening_until is not null and (status <> 'ACTIVE' or listening_until <= $2)`

export const livingKeysOf = (part: string[]): string =>
  `select key_id from api_keys join accounts on accounts.name = api_keys.account
   where key_id in (${places(part, 1)}) and revoked is null and ended = 0`
