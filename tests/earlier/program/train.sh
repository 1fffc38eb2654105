for step in 1 2 3; do echo "step $step loss 0.$((9 - step * $2))"; done
echo "valid $1"
