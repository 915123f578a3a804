module example.org/payments

go 1.18
