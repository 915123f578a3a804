<?php

declare(strict_types=1);

namespace Payments;

/**
 * Receives the webhook messages of GOV.UK Pay, each once. Needs PHP 8.1. public/webhooks.php uses it. In Symfony and
 * Laravel a controller calls receive() with $request->getContent() and $request->headers->get('Pay-Signature').
 */
final class Receiver
{
    private const MOST_BYTES = 1_000_000;

    /**
     * Calls $handle with each message. The folder keeps which messages came. With several machines use a table with a
     * unique column instead, in the transaction of what $handle does.
     */
    public function __construct(
        private readonly string $signingKey,
        private readonly string $folder,
        private readonly \Closure $handle,
    ) {
        if ($signingKey === '') {
            throw new \InvalidArgumentException(
                'SIGNING_KEY is not set, and without it anybody could sign messages',
            );
        }
        if (!is_dir($folder) && !@mkdir($folder, 0700, true) && !is_dir($folder)) {
            throw new \RuntimeException("$folder cannot be made");
        }
    }

    /** Takes the request's body, byte for byte, and the header Pay-Signature. */
    public static function isSigned(string $body, string $paySignature, string $signingKey): bool
    {
        return $signingKey !== '' && hash_equals(hash_hmac('sha256', $body, $signingKey), $paySignature);
    }

    /** Returns the status of the response. */
    public function receive(string $body, ?string $paySignature): int
    {
        if (strlen($body) > self::MOST_BYTES) {
            return 413;
        }
        if (!self::isSigned($body, $paySignature ?? '', $this->signingKey)) {
            return 401;
        }
        $message = json_decode($body, true);
        $id = is_array($message) ? $message['webhook_message_id'] ?? null : null;
        if (!is_string($id) || !preg_match('/^[0-9a-z]{1,64}$/D', $id)) {
            return 400;
        }
        $name = "$this->folder/$id";
        $file = @fopen($name, 'x');
        if ($file === false) {
            return is_file($name) ? 200 : 500; // It came before: each message is tried more than once.
        }
        fclose($file);
        try {
            ($this->handle)($message);
        } catch (\Throwable $failed) {
            unlink($name); // The next attempt may succeed.
            throw $failed;
        }
        return 200;
    }
}
