module example.com/migrate-a-cpi

go 1.21
