<?php
// Receives webhook messages and refuses those that are not signed with SIGNING_KEY. With MESSAGES it keeps the last
// one in that file. Run it with: SIGNING_KEY=... php -S 127.0.0.1:8080 receiver.php

$body = file_get_contents('php://input'); // The raw bytes: JSON that is decoded and encoded again has another signature.
$right = hash_hmac('sha256', $body, getenv('SIGNING_KEY'));
if (!hash_equals($right, $_SERVER['HTTP_PAY_SIGNATURE'] ?? '')) {
    http_response_code(401);
    exit('Pay-Signature is missing or wrong');
}
$message = json_decode($body, true);
error_log("{$message['event_type']} of payment {$message['resource_id']}");
if (getenv('MESSAGES')) {
    file_put_contents(getenv('MESSAGES'), $body);
}
