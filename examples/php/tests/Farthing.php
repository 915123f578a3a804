<?php

declare(strict_types=1);

namespace Payments\Tests;

/**
 * FARTHING_URL and FARTHING_API_KEY name a Farthing that runs, with FARTHING_CONTROL=true, and with the hosts of your
 * service and of the tests in FARTHING_RETURN_HOSTS and FARTHING_CALLBACK_HOSTS. Without them the program `farthing`, or
 * the one that FARTHING names, is started, with the settings below. FARTHING_RECEIVER_HOST is the host of the tests as
 * Farthing reaches it, if that is not 127.0.0.1.
 */
final class Farthing
{
    private const SECONDS = 15;
    private const SECONDS_TO_START = 20;
    private const GET_IT =
        'Set FARTHING to the path of an executable of a release, or of bin/farthing.js in a clone after npm ci.';
    private static ?self $shared = null;
    private static ?\Throwable $failed = null;

    private function __construct(
        public readonly string $url, // For your service, as the key.
        public readonly string $key,
        private readonly string $name = '',
    ) {
    }

    public static function host(): string
    {
        return getenv('FARTHING_RECEIVER_HOST') ?: '127.0.0.1';
    }

    /** The Farthing of all tests, with the key that may make accounts. */
    public static function shared(): self
    {
        if (self::$failed !== null) {
            throw self::$failed; // It is started once, not by each test again.
        }
        try {
            return self::$shared ??= getenv('FARTHING_URL')
                ? new self((string) getenv('FARTHING_URL'), (string) getenv('FARTHING_API_KEY'))
                : self::start();
        } catch (\Throwable $failed) {
            throw self::$failed = $failed;
        }
    }

    /** An account that shares nothing with another test, and answers as GOV.UK Pay does. */
    public static function account(): self
    {
        $made = self::shared()->ask('POST', '/control/accounts', ['behaviour' => 'govuk-pay'], 201);
        return new self(self::shared()->url, $made['key'], $made['account']);
    }

    private static function start(): self
    {
        $key = bin2hex(random_bytes(16));
        $program = getenv('FARTHING') ?: 'farthing';
        $hosts = 'localhost,127.0.0.1,' . self::host(); // Over http, with any port.
        $settings = ['PORT' => '0', 'HOST' => '127.0.0.1', 'DATABASE_URL' => 'sqlite::memory:', 'LOG_LEVEL' => 'warn',
            'FARTHING_API_KEY' => $key, 'FARTHING_CONTROL' => 'true', 'FARTHING_CALLBACK_HOSTS' => $hosts,
            'FARTHING_RETURN_HOSTS' => $hosts];
        $process = @proc_open([$program], [1 => ['pipe', 'w'], 2 => STDERR], $pipes, null, $settings + getenv());
        if ($process === false) {
            throw new \RuntimeException("$program cannot be started. " . self::GET_IT);
        }
        register_shutdown_function(fn() => proc_terminate($process) && proc_close($process));
        $ready = [$pipes[1]];
        $none = [];
        // Farthing is listening on http://127.0.0.1:41231
        $first = stream_select($ready, $none, $none, self::SECONDS_TO_START) ? (string) fgets($pipes[1]) : '';
        if (!str_contains($first, ' is listening on ')) {
            throw new \RuntimeException("$program did not start: " . ($first ?: self::GET_IT));
        }
        return new self(trim(strrchr($first, ' ')), $key);
    }

    public function end(): void
    {
        self::shared()->ask('DELETE', "/control/accounts/$this->name", null, 204);
    }

    /** Returns the JSON of the response. Any other status than expected fails the test. */
    public function ask(string $method, string $path, ?array $body = null, int $expected = 200): ?array
    {
        [$status, $text] = $this->send($method, $path, $body);
        if ($status !== $expected) {
            throw new \RuntimeException("$method $path: expected $expected, got $status $text");
        }
        return json_decode($text, true);
    }

    /** Returns the status and the body of the response. Without a response the status is 0, and the reason its body. */
    public function send(string $method, string $path, ?array $body = null): array
    {
        $http = [
            'method' => $method,
            'header' => [
                "Authorization: Bearer $this->key",
                'Content-Type: application/json',
                'Connection: close',
            ],
            'ignore_errors' => true,
            'timeout' => self::SECONDS,
        ];
        if (($body['authorisation_mode'] ?? '') === 'agreement') {
            $http['header'][] = 'Idempotency-Key: ' . bin2hex(random_bytes(16)); // One recurring payment for each key.
        }
        if ($body !== null) {
            $http['content'] = json_encode($body);
        }
        $text = @file_get_contents($this->url . $path, false, stream_context_create(['http' => $http]));
        if ($text === false) {
            return [0, error_get_last()['message'] ?? 'no response'];
        }
        return [(int) explode(' ', $http_response_header[0])[1], $text];
    }
}
