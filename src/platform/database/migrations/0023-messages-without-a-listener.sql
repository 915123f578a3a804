-- A message for which nobody listened is no failure of a receiver. So far only the text of its last attempt showed it.
update webhook_messages set status = 'not listening'
where status = 'FAILED' and attempts like '%"result":"nobody is listening"%';
