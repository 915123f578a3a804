<?php

declare(strict_types=1);

namespace Payments\Tests;

use PHPUnit\Framework\TestCase;

/** Run it with: vendor/bin/phpunit tests. Without Composer: phpunit --bootstrap tests/Farthing.php tests */
final class PaymentsTest extends TestCase
{
    private const PAYMENT = [
        'amount' => 1450,
        'reference' => 'R-7',
        'description' => 'A licence',
        'return_url' => 'https://example.org/back',
    ];
    private ?Farthing $account = null;
    /** @var resource|null */
    private $receiver = null;
    private string $folder = '';

    public static function setUpBeforeClass(): void
    {
        Farthing::shared();
    }

    protected function setUp(): void
    {
        $this->account = Farthing::account();
    }

    protected function tearDown(): void
    {
        if ($this->receiver) {
            proc_terminate($this->receiver);
            proc_close($this->receiver);
            array_map(unlink(...), glob("$this->folder/*"));
            rmdir($this->folder);
        }
        $this->account?->end();
    }

    /** PHP does one thing at a time, so another process receives, and writes a line for each message to a file. */
    private function receive(): void
    {
        $host = Farthing::host();
        $free = stream_socket_server('tcp://127.0.0.1:0');
        $port = (int) substr(strrchr(stream_socket_get_name($free, false), ':'), 1);
        fclose($free);
        $url = "http://$host:$port/";
        $webhook = $this->account->ask('POST', '/control/webhooks', ['callback_url' => $url], 201);
        $this->folder = sys_get_temp_dir() . '/messages-' . bin2hex(random_bytes(8));
        mkdir($this->folder);
        $settings = ['SIGNING_KEY' => $webhook['signing_key'], 'MESSAGES' => $this->folder];
        $address = ($host === '127.0.0.1' ? $host : '0.0.0.0') . ":$port";
        $command = [PHP_BINARY, '-S', $address, __DIR__ . '/../public/webhooks.php'];
        $outputs = [1 => ['file', '/dev/null', 'w'], 2 => ['file', "$this->folder/log", 'w']];
        $this->receiver = proc_open($command, $outputs, $pipes, null, $settings + getenv());
        for ($i = 0; $i < 400 && !($open = @fsockopen('127.0.0.1', $port)); $i++) {
            usleep(50_000);
        }
        self::assertNotFalse($open, 'the receiver did not start');
        fclose($open);
    }

    private function complete(string $id, string $scenario): array
    {
        return $this->account->ask('POST', "/control/payments/$id/complete", ['scenario' => $scenario]);
    }

    public function testAPaymentSucceedsAndYourReceiverGetsEachMessageOnce(): void
    {
        $this->receive();
        $id = $this->account->ask('POST', '/v1/payments', self::PAYMENT, 201)['payment_id'];
        self::assertSame('success', $this->complete($id, 'success')['state']['status']);
        $this->account->ask('POST', '/control/clock', ['advance' => 5_000]); // Then it is captured.
        // Messages come after the response, in any order.
        for ($i = 0, $log = ''; $i < 50 && substr_count($log, " of payment $id") < 2; $i++) {
            usleep(100_000);
            $log = (string) file_get_contents("$this->folder/log");
        }
        self::assertSame(1, substr_count($log, "card_payment_succeeded of payment $id"));
        self::assertSame(1, substr_count($log, "card_payment_captured of payment $id"));
    }

    public function testACardIsDeclined(): void
    {
        $id = $this->account->ask('POST', '/v1/payments', self::PAYMENT, 201)['payment_id'];
        $state = $this->complete($id, 'declined')['state'];
        self::assertSame(['failed', 'P0010'], [$state['status'], $state['code']]);
    }

    public function testAPaymentIsRefundedOnceItIsCapturedAndGoneAfter180Days(): void
    {
        $made = $this->account->ask('POST', '/control/payments', ['scenario' => 'success', 'amount' => 1450], 201);
        $path = "/v1/payments/{$made['payment_id']}";
        $wanted = ['amount' => 500, 'refund_amount_available' => 1450];
        self::assertSame('P0603', $this->account->ask('POST', "$path/refunds", $wanted, 400)['code']);
        $this->account->ask('POST', '/control/clock', ['advance' => 5_000]);
        $refund = $this->account->ask('POST', "$path/refunds", $wanted, 202);
        self::assertSame('success', $this->account->ask('GET', "$path/refunds/{$refund['refund_id']}")['status']);
        $this->account->ask('POST', '/control/clock', ['advance' => 180 * 24 * 60 * 60 * 1_000]);
        self::assertSame('P0200', $this->account->ask('GET', $path, null, 404)['code']);
    }

    public function testAPaymentWasMadeAlthoughItsAnswerWasLost(): void
    {
        $unavailable = ['on' => 'createPayment', 'answer' => ['status' => 503]];
        $this->account->ask('POST', '/control/plans', $unavailable, 201);
        $this->account->ask('POST', '/v1/payments', self::PAYMENT, 503);
        $lost = ['on' => 'createPayment', 'when' => 'after', 'reset' => true];
        $this->account->ask('POST', '/control/plans', $lost, 201);
        self::assertSame(0, $this->account->send('POST', '/v1/payments', self::PAYMENT)[0]);
        // Search before you repeat.
        self::assertSame(1, $this->account->ask('GET', '/v1/payments?reference=R-7')['total']);
    }
}
