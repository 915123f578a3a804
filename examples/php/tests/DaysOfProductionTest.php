<?php

declare(strict_types=1);

namespace Payments\Tests;

use PHPUnit\Framework\TestCase;

/** What happens in production, and never by itself in a sandbox. */
final class DaysOfProductionTest extends TestCase
{
    private ?Farthing $account = null;

    protected function setUp(): void
    {
        $this->account = Farthing::account();
    }

    protected function tearDown(): void
    {
        $this->account?->end();
    }

    /** Your service reads a recurring payment until it has ended, and only then decides. */
    private function ended(array $payment): array
    {
        for ($i = 0; $i < 50; $i++) {
            $state = $this->account->ask('GET', "/v1/payments/{$payment['payment_id']}")['state'];
            if ($state['finished']) {
                return $state;
            }
            usleep(100_000);
        }
        self::fail("payment {$payment['payment_id']} has not ended");
    }

    public function testARecurringPaymentIsDeclinedAndSucceedsWhenItIsTriedAgain(): void
    {
        $wanted = ['reference' => 'R-7', 'description' => 'A licence'];
        $id = $this->account->ask('POST', '/v1/agreements', $wanted, 201)['agreement_id'];
        $setUp = ['set_up_agreement' => $id, 'scenario' => 'success'];
        $this->account->ask('POST', '/control/payments', $setUp, 201);
        $plan = ['given' => ['agreement_id' => $id], 'scenario' => 'declined', 'can_retry' => true, 'hold' => true];
        $this->account->ask('POST', '/control/plans', $plan, 201);
        $monthly = ['amount' => 1450, 'reference' => 'R-7', 'description' => 'March',
            'authorisation_mode' => 'agreement', 'agreement_id' => $id];
        $first = $this->account->ask('POST', '/v1/payments', $monthly, 201);
        self::assertSame('created', $first['state']['status']); // As in production: the end comes later.
        $this->account->ask('POST', "/control/payments/{$first['payment_id']}/complete", ['scenario' => 'declined']);
        $declined = $this->ended($first);
        self::assertSame(['failed', true], [$declined['status'], $declined['can_retry']]);
        $again = $this->account->ask('POST', '/v1/payments', $monthly, 201);
        $this->account->ask('POST', '/control/clock', ['advance' => 2000]);
        self::assertSame('success', $this->ended($again)['status']);
    }

    /** What your service shows when the user is back. A submitted payment is not paid: its link leads on to Confirm. */
    private function pageFor(string $id): string
    {
        ['state' => $state, '_links' => $links] = $this->account->ask('GET', "/v1/payments/$id");
        if ($state['status'] === 'success') {
            return 'Thank you';
        }
        return $state['finished'] ? 'Try again' : "Go on to {$links['next_url']['href']}";
    }

    public function testAUserWhoIsBackFromConfirmIsLedOnToIt(): void
    {
        $wanted = ['scenario' => 'success', 'confirm' => false];
        $held = $this->account->ask('POST', '/control/payments', $wanted, 201);
        $id = $held['payment_id'];
        self::assertSame('submitted', $held['state']['status']);
        self::assertSame("Go on to {$held['_links']['next_url']['href']}", $this->pageFor($id));
        $this->account->ask('POST', "/control/payments/$id/complete", ['scenario' => 'success']);
        self::assertSame('Thank you', $this->pageFor($id));
    }
}
