<?php

// SIGNING_KEY=... php -S 127.0.0.1:8080 public/webhooks.php

declare(strict_types=1);

use Payments\Receiver;

require_once __DIR__ . '/../src/Receiver.php';

http_response_code(500); // also if this fails
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    http_response_code(405);
    return;
}
$show = fn(array $message) => error_log("{$message['event_type']} of payment {$message['resource_id']}");
$receiver = new Receiver((string) getenv('SIGNING_KEY'), getenv('MESSAGES') ?: 'messages', $show);
$body = (string) file_get_contents('php://input'); // The bytes as they arrived.
http_response_code($receiver->receive($body, $_SERVER['HTTP_PAY_SIGNATURE'] ?? null));
