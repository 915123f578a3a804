<?php
// Needs PHP 8 and a Farthing that was started with FARTHING_CONTROL=true and FARTHING_CALLBACK_HOSTS=127.0.0.1.
// Reads FARTHING_URL and FARTHING_API_KEY. Run it with: php payments_test.php (it uses ../receivers/receiver.php)

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

/** Returns the status and the JSON of the response, also of an error; the status is 0 without a response. */
function ask(string $key, string $method, string $path, ?array $body = null): array
{
    $headers = ["Authorization: Bearer $key", 'Content-Type: application/json'];
    $http = ['method' => $method, 'header' => $headers, 'ignore_errors' => true];
    if ($body !== null) {
        $http['content'] = json_encode($body);
    }
    $response = @file_get_contents(getenv('FARTHING_URL') . $path, false, stream_context_create(['http' => $http]));
    $status = $response === false ? 0 : (int) explode(' ', $http_response_header[0])[1];
    return [$status, json_decode((string) $response, true)];
}

function expect(mixed $wanted, mixed $found): void
{
    $wanted === $found || fail('expected ' . json_encode($wanted) . ', found ' . json_encode($found));
}

// PHP does one thing at a time, so another process receives and keeps each message in a file.
$program = __DIR__ . '/../receivers/receiver.php';
is_file($program) || fail("there is no $program");
$port = (int) explode(':', stream_socket_get_name($free = stream_socket_server('tcp://127.0.0.1:0'), false))[1];
fclose($free);
$file = tempnam(sys_get_temp_dir(), 'message');
$parent = getenv('FARTHING_API_KEY');
[, $account] = ask($parent, 'POST', '/control/accounts');
$key = $account['key'];
[, $webhook] = ask($key, 'POST', '/v1/webhooks', ['callback_url' => "http://127.0.0.1:$port/", 'subscriptions' => ['card_payment_succeeded']]);
$environment = ['SIGNING_KEY' => $webhook['signing_key'], 'MESSAGES' => $file] + getenv();
$receiver = proc_open(['php', '-q', '-S', "127.0.0.1:$port", $program], [2 => ['file', '/dev/null', 'w']], $pipes, null, $environment);
for ($i = 0; !($open = @fsockopen('127.0.0.1', $port)) && $i < 100; $i++) {
    usleep(50_000);
}
$open ? fclose($open) : fail('the receiver did not start');

// A webhook is signed over its raw bytes, which the receiver checks: it keeps only what has the right signature.
$payment = ['amount' => 1450, 'reference' => 'R-7', 'description' => 'A licence', 'return_url' => 'https://example.org/back'];
[, $made] = ask($key, 'POST', '/v1/payments', $payment);
$id = $made['payment_id'];
[, $paid] = ask($key, 'POST', "/control/payments/$id/complete", ['scenario' => 'success']);
expect('success', $paid['state']['status']);
expect($id, json_decode(file_get_contents($file), true)['resource_id'] ?? null); // The response came after the delivery.
proc_terminate($receiver);
unlink($file);

// A refund succeeds after 5 seconds, and a payment is gone after 7 days.
[$status, $refund] = ask($key, 'POST', "/v1/payments/$id/refunds", ['amount' => 500, 'refund_amount_available' => 1450]);
expect([202, 'submitted'], [$status, $refund['status']]);
ask($key, 'POST', '/control/clock', ['advance' => 5_000]);
expect('success', ask($key, 'GET', "/v1/payments/$id/refunds/{$refund['refund_id']}")[1]['status']);
ask($key, 'POST', '/control/clock', ['advance' => 7 * 24 * 60 * 60 * 1_000]);
[$status, $error] = ask($key, 'GET', "/v1/payments/$id");
expect([404, 'P0200'], [$status, $error['code']]);

// A 503 and a lost answer can be planned.
ask($key, 'POST', '/control/plans', ['on' => 'createPayment', 'answer' => ['status' => 503]]);
expect(503, ask($key, 'POST', '/v1/payments', $payment)[0]);
ask($key, 'POST', '/control/plans', ['on' => 'createPayment', 'when' => 'after', 'reset' => true]);
expect(0, ask($key, 'POST', '/v1/payments', $payment)[0]);
expect(1, ask($key, 'GET', '/v1/payments?reference=R-7')[1]['total']); // It was made: search before you repeat.

ask($parent, 'DELETE', "/control/accounts/{$account['account']}");
echo "paid, received, refunded, gone after 7 days, and two faults\n";
