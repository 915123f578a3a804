-- A message for which nobody listened is no failure of a receiver. It was known by the text of its last attempt.
update webhook_messages set status = 'not listening'
where status = 'FAILED' and attempts like '%"result":"nobody is listening"%';
